// What stands for NCCL in a build without CUDA, or without NCCL's header.
#if !defined(TUTTI_HAVE_CUDA) || !__has_include(<nccl.h>)

#include "tutti/exchange/nccl.hpp"

namespace tutti {

NcclReport report_nccl() {
  return {"", "this tutti was built without it"};
}

std::unique_ptr<DeviceLink> make_nccl_link(const Comm& comm, const LinkedParts&, std::span<PartStreams>) {
  comm.together([] {
    fail(ErrorKind::resource,
         "devices.transport = \"nccl\": this tutti was built without NCCL; build it where nccl.h is found, or use "
         "\"auto\"");
  });
  return nullptr;
}

}  // namespace tutti

#endif
