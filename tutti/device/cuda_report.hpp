// What this build and this host have of CUDA, for `tutti doctor`: it asks without failing.
#pragma once

#include <string>
#include <vector>

namespace tutti {

struct CudaReport {
  bool built = false;           ///< this tutti has the CUDA backend
  std::string runtime, driver;  ///< versions, "13.0"; driver empty: none is loaded
  std::string problem;          ///< why no GPU can be used although this tutti is built for them; empty: no problem
  std::vector<std::string> devices;  ///< name and memory
  int peers = 0;                     ///< ordered pairs of GPUs that read each other's memory
};

/// Of the GPUs that this process sees (CUDA_VISIBLE_DEVICES).
CudaReport report_cuda();
/// The version of the NVIDIA driver that the kernel has loaded; empty: none. Needs no CUDA.
std::string nvidia_driver();

}  // namespace tutti
