# Scotch::Scotch, another graph partitioner, with the library that ends a program on its errors.
find_path(SCOTCH_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch scotch-long)
find_library(SCOTCH_LIBRARY scotch)
find_library(SCOTCHERR_LIBRARY scotcherr)
mark_as_advanced(SCOTCH_INCLUDE_DIR SCOTCH_LIBRARY SCOTCHERR_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Scotch REQUIRED_VARS SCOTCH_LIBRARY SCOTCHERR_LIBRARY SCOTCH_INCLUDE_DIR)
if(Scotch_FOUND AND NOT TARGET Scotch::Scotch)
  add_library(Scotch::Scotch UNKNOWN IMPORTED)
  set_target_properties(Scotch::Scotch PROPERTIES IMPORTED_LOCATION ${SCOTCH_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SCOTCH_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES ${SCOTCHERR_LIBRARY})
endif()
