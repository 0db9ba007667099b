# What makes tutti's programs hard to misuse; scripts/check_hardening.py checks it.

# Where the loader looks for libraries: the folders of those linked by their path (an MPI in /opt), the same in the build
# tree and installed. CMake else ends the list of the build tree with an empty entry, for which the loader takes the
# current folder: a libmetis.so.5 that lies there would be loaded and run.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_INSTALL_RPATH "")
