# MuParser::MuParser, the parser of formulas. Some distributions have a CMake file for it, some only pkg-config.
find_path(MUPARSER_INCLUDE_DIR muParser.h)
find_library(MUPARSER_LIBRARY muparser)
mark_as_advanced(MUPARSER_INCLUDE_DIR MUPARSER_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuParser REQUIRED_VARS MUPARSER_LIBRARY MUPARSER_INCLUDE_DIR)
if(MuParser_FOUND AND NOT TARGET MuParser::MuParser)
  add_library(MuParser::MuParser UNKNOWN IMPORTED)
  set_target_properties(MuParser::MuParser PROPERTIES IMPORTED_LOCATION ${MUPARSER_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${MUPARSER_INCLUDE_DIR})
endif()
