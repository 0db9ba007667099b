# The version and the commit in one small source file: another commit compiles nothing else. A commit configures again.
set(tutti_commit unknown)
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --abbrev=40 --exclude=* --dirty=-modified
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(tutti_commit ${found})
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                    OUTPUT_VARIABLE moves OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    cmake_path(ABSOLUTE_PATH moves BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    if(EXISTS ${moves})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${moves})
    endif()
  endif()
endif()
set(tutti_cuda_version none)
if(TUTTI_HAVE_CUDA)
  set(tutti_cuda_version ${CMAKE_CUDA_COMPILER_VERSION})
endif()
configure_file(${CMAKE_SOURCE_DIR}/tutti/base/version.cpp.in ${CMAKE_BINARY_DIR}/tutti/version.cpp @ONLY)
target_sources(tutti_base PRIVATE ${CMAKE_BINARY_DIR}/tutti/version.cpp)
