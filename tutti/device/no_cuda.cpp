// What stands for the CUDA backend in a build without it.
#if !defined(TUTTI_HAVE_CUDA)

#include "tutti/device/device.hpp"

namespace tutti {

int cuda_device_count() {
  return 0;
}

std::unique_ptr<Device> make_cuda_device(int index, Size) {
  fail(ErrorKind::resource, "cuda:{}: this tutti was built without CUDA; build it where nvcc is found", index);
}

}  // namespace tutti

#endif
