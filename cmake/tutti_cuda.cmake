# CUDA as tutti wants it, for its own build and for its users': looks for nvcc (it need not be on PATH) and turns the
# language on. Sets TUTTI_NVCC, which is empty where there is none, and tutti_cuda_flags: what nvcc gets for .cu files.
# To be included at the top level of a project: a language cannot be turned on inside a function.
find_program(TUTTI_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDACXX} PATHS /usr/local/cuda/bin)
if(TUTTI_NVCC)
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${TUTTI_NVCC})
  endif()
  # For the GPUs of this machine. Where it has none, code for any since A100, which the driver translates when a program
  # first runs: half the time to compile. The preset cuda makes code for A100 and Hopper.
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE tutti_gpus
                    RESULT_VARIABLE tutti_no_gpu ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT tutti_no_gpu AND tutti_gpus MATCHES "^[0-9.\n]+$")
      string(REGEX REPLACE "[.]" "" tutti_gpus "${tutti_gpus}")
      string(REGEX MATCHALL "[0-9]+" CMAKE_CUDA_ARCHITECTURES "${tutti_gpus}")
      list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 80-virtual)
    endif()
  endif()
  enable_language(CUDA)
  # CMake 3.25.1 knows no -std flag of nvcc 13: it passes none, and must not insist on one. The flag is given here.
  # -fmad=false: a result must not depend on where the compiler saw a chance to fuse.
  set(tutti_cuda_flags -std=c++20 --expt-relaxed-constexpr --expt-extended-lambda -fmad=false -Xcudafe --diag_suppress=20014)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    list(APPEND tutti_cuda_flags -compress-mode=size)
  endif()
endif()
