include(tutti_kernels)

# For tests, the command line and what else computes little: a third less time to compile than with -O3, the same bits.
# GCC 12 then finds fault with its own header of AVX-512.
set(tutti_quick_compile "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1;-Wno-uninitialized>")

# Sources that are short beside the headers they read are compiled five at a time: half the time. Not where precompiled
# headers are off, either (preset portable): there each source must stand alone, and clang-tidy finds it in the list.
function(tutti_together target)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  endif()
endfunction()

# tutti_floor(NAME [TOGETHER] [QUICK] DEPENDS libs...): the library of one floor, made of every source below its folder.
# A .cu file is CUDA where nvcc is there and plain C++ where it is not (tutti_kernels). For users it is tutti::<name>.
# TOGETHER: as tutti_together; QUICK: it computes little.
function(tutti_floor name)
  cmake_parse_arguments(arg "TOGETHER;QUICK" "" "DEPENDS" ${ARGN})
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
  add_library(${target} STATIC ${sources} ${kernels})
  tutti_kernels(${kernels})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS})
  tutti_flags(${target})
  if(arg_TOGETHER)
    tutti_together(${target})
  endif()
  if(arg_QUICK)
    target_compile_options(${target} PRIVATE ${tutti_quick_compile})
    set(sources)
  endif()
  # Reading cases, commands, saying what is planned or was measured: what computes little.
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH path ${CMAKE_CURRENT_SOURCE_DIR} ${source})
    if(path MATCHES "^io/case/|_(bench|case|command|commands|keys|kind|plan)\\.cpp$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${tutti_quick_compile})
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

# tutti_headers(target libs...): header-only libraries that the .cpp files of a floor include. They are no part of what
# the floor links, so that an installed tutti does not ask for them.
function(tutti_headers target)
  foreach(library IN LISTS ARGN)
    target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
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
