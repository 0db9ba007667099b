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

# Headers that only tutti's own .cpp files include: whoever links tutti does not need them (tutti_headers).
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
