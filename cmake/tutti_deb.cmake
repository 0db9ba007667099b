# cpack -G DEB: one package with the program, the Python package, examples and the manual page; what it links is found by
# dpkg-shlibdeps. For other machines than this one: the preset portable (or cuda).
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_CONTACT "the authors of tutti <tutti@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "mesh-based simulations on all CPU cores and GPUs at once")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program python dist_packages)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin, python3, python3-numpy, python3-matplotlib, gmsh")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-vtk9, python3-pandas, python3-xarray, paraview")
# Debian's Python finds the package without PYTHONPATH.
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages\")
  file(MAKE_DIRECTORY \"\${folder}\")
  file(CREATE_LINK ../../../share/tutti/python/tutti \"\${folder}/tutti\" SYMBOLIC)" COMPONENT dist_packages EXCLUDE_FROM_ALL)
include(CPack)
