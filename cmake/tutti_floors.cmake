include(tutti_kernels)

# For tests, the command line and what else computes little: a third less time to compile than with -O3, the same bits.
# GCC 12 then finds fault with its own header of AVX-512.
set(tutti_quick_compile "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1;-Wno-uninitialized>")

# Sources that are short beside the headers they read are compiled ten at a time: half the time; five, where more of
# them have names in common. Not where precompiled
# headers are off, either (preset portable): there each source must stand alone, and clang-tidy finds it in the list.
# Sources with flags of their own stay alone, and so should loops that runs spend their time in: what a compiler inlines
# there must not depend on neighbours. Clang warns of a name that hides one of a neighbour's: each source alone.
set(tutti_by_fives tutti_mesh tutti_io tutti_models_smoothing tutti_models_diffusion tutti_models_graph
    test_io test_models_compressible test_models_diffusion test_models_incompressible test_models_transport)
function(tutti_together target)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    if(target IN_LIST tutti_by_fives)
      set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 5)
    endif()
    # GCC takes a source that is included for a header, and warns of types that only it can see.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()
# Every floor compiles alone what computes much on the host, and .cu files.
set(tutti_alone "_(host|sweep|worker|batch|transform)\\.cpp$|\\.cu$")
# Runs around their steps, reading cases, commands, benchmarks' options, what is planned or was measured: what computes little.
set(tutti_quick "/(simulation|program|io/case)/|_(bench|case|command|commands|errors|keys|kind|plan)\\.cpp$")

# tutti_floor(NAME [ALONE regex] DEPENDS libs... [PRIVATE libs...] [HEADERS libs...]): the library of one floor, made of every source below its folder.
# ALONE: sources that are compiled alone besides.
# A .cu file is CUDA where nvcc is there and plain C++ where it is not (tutti_kernels). For users it is tutti::<name>.
# HEADERS: header-only libraries that its .cpp files include. They are no part of what the floor links, so that an
# installed tutti does not ask for them.
function(tutti_floor name)
  cmake_parse_arguments(arg "" "ALONE" "DEPENDS;PRIVATE;HEADERS" ${ARGN})
  set(target tutti_${name})
  string(REPLACE "/" "_" target ${target})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cu)
  if(NOT sources AND NOT kernels)
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
    target_link_libraries(${target} INTERFACE ${arg_DEPENDS})
    tutti_export(${target})
    return()
  endif()
  if(NOT TUTTI_HAVE_CUDA)
    list(FILTER sources EXCLUDE REGEX "/cuda/")
    list(FILTER kernels EXCLUDE REGEX "/cuda/")
  endif()
  set(quick ${sources})
  list(FILTER quick INCLUDE REGEX "${tutti_quick}")
  list(REMOVE_ITEM sources ${quick})
  add_library(${target} STATIC ${sources} ${kernels})
  tutti_kernels(${kernels})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE})
  set(compiled ${target})
  if(quick)
    add_library(${target}_quick OBJECT ${quick})
    target_include_directories(${target}_quick PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target}_quick PRIVATE ${arg_DEPENDS} ${arg_PRIVATE})
    target_compile_options(${target}_quick PRIVATE ${tutti_quick_compile})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_quick>)
    list(APPEND compiled ${target}_quick)
  endif()
  foreach(part IN LISTS compiled)
    foreach(library IN LISTS arg_HEADERS)
      target_include_directories(${part} SYSTEM PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
    endforeach()
    tutti_flags(${part})
    tutti_together(${part})
  endforeach()
  foreach(source IN LISTS sources quick kernels)
    if(source MATCHES "${tutti_alone}" OR (arg_ALONE AND source MATCHES "${arg_ALONE}"))
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  tutti_export(${target})
endfunction()

# What users of an installed tutti can link: tutti::base for tutti_base.
function(tutti_export target)
  string(REGEX REPLACE "^tutti_(models_)?" "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(tutti::${name} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY TUTTI_EXPORTED ${target})
endfunction()

function(tutti_flags target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${tutti_host_flags}>)
  if(TUTTI_HAVE_CUDA)
    set(device_host_flags ${tutti_host_flags})
    list(REMOVE_ITEM device_host_flags -Werror -Wshadow -Wextra)
    list(JOIN device_host_flags "," joined)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler=${joined}>")
    # nvcc's front end does not take fmt 9's consteval format strings: in .cu files they are checked at run time.
    target_compile_definitions(${target} PRIVATE TUTTI_HAVE_CUDA=1
                               "$<$<COMPILE_LANGUAGE:CUDA>:FMT_CONSTEVAL=;FMT_USE_CONSTEXPR=1>")
  endif()
endfunction()
