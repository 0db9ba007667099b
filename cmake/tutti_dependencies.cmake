# Everything tutti stands on. scripts/install-dependencies.sh names the Debian packages.
macro(tutti_find)
  find_package(${ARGV} REQUIRED)
endmacro()

# CUDA: found -> used; absent -> everything else builds.
set(TUTTI_HAVE_CUDA OFF)
if(TUTTI_CUDA AND NOT TUTTI_SANITIZE)
  include(tutti_cuda)
  if(TUTTI_NVCC)
    set(TUTTI_HAVE_CUDA ON)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
    list(JOIN tutti_cuda_flags " " joined)
    string(APPEND CMAKE_CUDA_FLAGS " ${joined}")
    set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -lineinfo")
  endif()
endif()
message(STATUS "tutti: CUDA ${TUTTI_HAVE_CUDA}")

find_package(Scotch QUIET)
set(TUTTI_HAVE_SCOTCH ${Scotch_FOUND})
if(NOT TUTTI_HAVE_SCOTCH)
  message(STATUS "tutti: no Scotch, partitioner \"scotch\" is left out")
endif()
include(tutti_packages)

if(TUTTI_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Archer tells ThreadSanitizer how LLVM's OpenMP, which is not instrumented, orders its threads.
  cmake_path(GET OpenMP_omp_LIBRARY PARENT_PATH tutti_omp_folder)
  find_library(TUTTI_ARCHER NAMES archer HINTS ${tutti_omp_folder} REQUIRED)
  target_link_libraries(OpenMP::OpenMP_CXX INTERFACE -Wl,--no-as-needed ${TUTTI_ARCHER} -Wl,--as-needed)
endif()
if(TUTTI_FUZZ)
  # Compiled in from its headers, so that libFuzzer sees the branches of the TOML parser. Two findings in version 3.3.0
  # are its own: an assertion that fails for "[[[" and is not compiled into Debian's library, where the code behind it
  # refuses the text (marzer/tomlplusplus, pull request 301); and a table of white space that takes every other letter
  # above U+00A0 for impossible, without harm in GCC's code (test Toml.LettersOutsideOfTexts).
  set_target_properties(TomlPlusPlus::TomlPlusPlus PROPERTIES INTERFACE_COMPILE_DEFINITIONS "TOML_HEADER_ONLY=1" INTERFACE_LINK_LIBRARIES ""
                        INTERFACE_COMPILE_OPTIONS "-DTOML_ASSERT(x)=static_assert(true);-fno-sanitize=unreachable")
endif()

# Headers that only tutti's own .cpp files include: whoever links tutti does not need them (tutti_floor).
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(nanoflann REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
