# cmake --install: the program, the libraries with their headers and what find_package(tutti) needs, the Python package
# and the examples. The tree can be moved. The build tree can be found, too: -Dtutti_DIR=build/release.
# Components: program, python (the package, where pip does not install it, and the examples), development.
if(SKBUILD)  # pip install .: into the environment's own bin and share
  set(CMAKE_INSTALL_BINDIR ${SKBUILD_SCRIPTS_DIR})
  set(CMAKE_INSTALL_DATAROOTDIR ${SKBUILD_DATA_DIR}/share)
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(tutti_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)

get_property(exported GLOBAL PROPERTY TUTTI_EXPORTED)
install(TARGETS tutti_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS ${exported} EXPORT tuttiTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tuttiTargets NAMESPACE tutti:: DESTINATION ${tutti_config_dir})
export(EXPORT tuttiTargets NAMESPACE tutti:: FILE ${CMAKE_BINARY_DIR}/tuttiTargets.cmake)
install(DIRECTORY tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh"
        PATTERN "*_internal.hpp" EXCLUDE)

set(tutti_cmake_files tutti_packages.cmake tutti_cuda.cmake tutti_kernels.cmake
    FindHDF5C.cmake FindMETIS.cmake FindScotch.cmake FindTomlPlusPlus.cmake FindXxhash.cmake)
list(TRANSFORM tutti_cmake_files PREPEND ${CMAKE_SOURCE_DIR}/cmake/)
find_program(TUTTI_MPI_COMPILER ${MPI_CXX_COMPILER} DOC "compiler wrapper of the MPI, with its folder")
mark_as_advanced(TUTTI_MPI_COMPILER)
configure_package_config_file(cmake/tuttiConfig.cmake.in ${CMAKE_BINARY_DIR}/tuttiConfig.cmake
                              INSTALL_DESTINATION ${tutti_config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tuttiConfig.cmake ${CMAKE_BINARY_DIR}/tuttiConfigVersion.cmake ${tutti_cmake_files}
        DESTINATION ${tutti_config_dir})
foreach(file IN LISTS tutti_cmake_files)  # beside the configuration in the build tree, too
  configure_file(${file} ${CMAKE_BINARY_DIR} COPYONLY)
endforeach()

# Completion and the manual page, where shells and man look for them; made by the program itself.
foreach(made "completion bash:bash-completion/completions/tutti" "completion zsh:zsh/site-functions/_tutti"
        "completion fish:fish/vendor_completions.d/tutti.fish" "manual:man/man1/tutti.1")
  string(REPLACE ":" ";" made ${made})
  list(GET made 0 words)
  list(GET made 1 file)
  string(REPLACE " " "\" \"" words ${words})
  install(CODE "
    set(file \"${CMAKE_INSTALL_DATAROOTDIR}/${file}\")
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:tutti_app>\" \"${words}\" OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${file}\")" COMPONENT program)
endforeach()

install(DIRECTORY python examples DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti COMPONENT python
        PATTERN "__pycache__" EXCLUDE PATTERN "*.egg-info" EXCLUDE PATTERN "build" EXCLUDE)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
include(tutti_deb)
