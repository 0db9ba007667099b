// The part of the report that every build has.
#include "tutti/device/cuda_report.hpp"

#include <fstream>
#include <sstream>

namespace tutti {

std::string nvidia_driver() {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug ..."
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return "";
}

#if !defined(TUTTI_HAVE_CUDA)
CudaReport report_cuda() {
  CudaReport report;
  report.driver = nvidia_driver();
  return report;
}
#endif

}  // namespace tutti
