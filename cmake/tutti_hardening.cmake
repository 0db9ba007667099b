# What makes tutti's programs hard to misuse; scripts/check_hardening.py checks it.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

# Where the loader looks for libraries: the folders of those linked by their path (an MPI in /opt), the same in the build
# tree and installed. CMake else ends the list of the build tree with an empty entry, for which the loader takes the
# current folder: a libmetis.so.5 that lies there would be loaded and run.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_INSTALL_RPATH "")

# Programs lie at another address each time, and the tables of the functions that they call cannot be written.
check_pie_supported(LANGUAGES CXX)
add_link_options("LINKER:-z,relro,-z,now")
set(tutti_hardening pie now)

# For .cpp files, and for the host's side of .cu files (tutti_flags).
set(tutti_hardening_flags -fstack-protector-strong)
list(APPEND tutti_hardening stack)
check_cxx_compiler_flag(-fcf-protection=full tutti_has_cet)
if(tutti_has_cet)
  list(APPEND tutti_hardening_flags -fcf-protection=full)
  list(APPEND tutti_hardening cet)
endif()
list(APPEND tutti_host_flags ${tutti_hardening_flags})
# The library's checks of sizes need an optimised build, and would hide from the sanitizers what they look for.
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT TUTTI_SANITIZE)
  list(APPEND tutti_host_flags -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  list(APPEND tutti_hardening fortify)
endif()
