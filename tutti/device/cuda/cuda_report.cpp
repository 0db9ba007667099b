// What the CUDA runtime says about this host.
#include "tutti/device/cuda_report.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "tutti/base/units.hpp"

namespace tutti {
namespace {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

CudaReport report_cuda() {
  CudaReport report;
  report.built = true;
  int version = 0;
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) report.runtime = version_text(version);
  report.driver = nvidia_driver();
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0)
    report.driver += fmt::format("{}CUDA {}", report.driver.empty() ? "" : ", for ", version_text(version));
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    cudaGetLastError();
    report.problem = cudaGetErrorString(code);
    return report;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    report.devices.push_back(
        fmt::format("{}, {}", properties.name, format_bytes(static_cast<double>(properties.totalGlobalMem))));
    for (int j = 0; j < count; ++j) {
      int can = 0;
      if (j != i && cudaDeviceCanAccessPeer(&can, i, j) == cudaSuccess) report.peers += can;
    }
  }
  return report;
}

}  // namespace tutti
