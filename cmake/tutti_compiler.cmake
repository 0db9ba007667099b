# Language, warnings, architecture and sanitizers, the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3")

# What the host compiler gets everywhere, in .cpp files and in .cu files alike.
# -ffp-contract=off: a result must not depend on where the compiler saw a chance to fuse;
# kernels that want a fused multiply-add say std::fma.
add_compile_definitions(OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
set(tutti_host_flags -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
# Only with the compilers of CI: a newer one may warn of more, which is no reason to stop a user's build.
if(TUTTI_WERROR AND ((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
                     OR (CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)))
  list(APPEND tutti_host_flags -Werror)
endif()
list(APPEND tutti_host_flags -ffp-contract=off)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  if(TUTTI_PORTABLE)
    list(APPEND tutti_host_flags -march=x86-64-v3)
  else()
    list(APPEND tutti_host_flags -march=native)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 fuses all the same where it puts a sum and a difference beside each other into one register (vfmaddsub).
  list(APPEND tutti_host_flags -fno-tree-slp-vectorize)
  # GCC 12 warns about its own library and about vector code of its own intrinsics headers.
  list(APPEND tutti_host_flags -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
  # GCC collects its own garbage from 128 MiB of it on, again and again: from 1 GB on is a tenth less time to compile, and
  # at most 1.1 GB of memory a job instead of 0.9.
  list(APPEND tutti_host_flags --param=ggc-min-heapsize=1000000)
endif()
if(TUTTI_SANITIZE)
  list(APPEND tutti_host_flags -fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -g1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # There GCC 12 takes what its own AVX-512 header leaves undefined for a variable of Eigen's (GCC bug 105593).
    list(APPEND tutti_host_flags -Wno-uninitialized)
  endif()
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
  if(TUTTI_SANITIZE MATCHES "undefined")
    list(APPEND tutti_host_flags -fno-sanitize-recover=undefined)
  endif()
  # The standard library checks its indices, too.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  if(TUTTI_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # libgomp is not instrumented: the team then runs on plain threads (device/threads.cpp).
    add_compile_definitions(TUTTI_TEAM_PLAIN_THREADS=1)
  endif()
endif()
if(TUTTI_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "tutti: TUTTI_FUZZ needs clang with libFuzzer, found ${CMAKE_CXX_COMPILER_ID}; use the preset fuzz")
  endif()
  # Coverage for libFuzzer in every library; its main is linked to the targets only (tests/fuzz).
  list(APPEND tutti_host_flags -fsanitize=fuzzer-no-link)
endif()
