// Messages between GPUs by NCCL's point-to-point calls. The library is opened at run time.
#if __has_include(<nccl.h>)

#include "tutti/exchange/nccl.hpp"

#include <dlfcn.h>
#include <nccl.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/device/cuda/check.hpp"

namespace tutti {
namespace {

constexpr const char* library_name = "libnccl.so.2";

/// The functions of NCCL that tutti calls.
struct Nccl {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) init = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  int version = 0;
  std::string problem;  ///< why it cannot be used; empty: it can
};

Nccl open_nccl() {
  Nccl nccl;
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* cause = dlerror();
    nccl.problem = cause != nullptr ? cause : library_name;
    return nccl;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) nccl.problem = fmt::format("{} has no {}", library_name, name);
  };
  find(nccl.get_version, "ncclGetVersion");
  find(nccl.get_unique_id, "ncclGetUniqueId");
  find(nccl.init, "ncclCommInitRank");
  find(nccl.destroy, "ncclCommDestroy");
  find(nccl.abort, "ncclCommAbort");
  find(nccl.async_error, "ncclCommGetAsyncError");
  find(nccl.error_string, "ncclGetErrorString");
  find(nccl.last_error, "ncclGetLastError");
  find(nccl.group_start, "ncclGroupStart");
  find(nccl.group_end, "ncclGroupEnd");
  find(nccl.send, "ncclSend");
  find(nccl.receive, "ncclRecv");
  if (nccl.problem.empty() && nccl.get_version(&nccl.version) != ncclSuccess)
    nccl.problem = fmt::format("{} does not report its version", library_name);
  return nccl;
}

/// It stays open until the program ends.
const Nccl& nccl_library() {
  static const Nccl nccl = open_nccl();
  return nccl;
}

std::string describe_error(ncclResult_t code) {
  const char* detail = nccl_library().last_error(nullptr);
  const std::string text = nccl_library().error_string(code);
  return detail == nullptr || *detail == 0 ? text : fmt::format("{} ({})", text, detail);
}

void check_nccl(ncclResult_t code, const char* call, bool set_up = false) {
  if (code == ncclSuccess) return;
  fail(set_up ? ErrorKind::resource : ErrorKind::peer, "NCCL: {} in {}; {}", describe_error(code), call,
       set_up ? "see NCCL_DEBUG=WARN, or use devices.transport = \"auto\"" : "restart from a checkpoint");
}

/// All calls between its start and end are one operation.
class Group {
 public:
  Group() { check_nccl(nccl_library().group_start(), "ncclGroupStart"); }
  ~Group() {
    if (open_) nccl_library().group_end();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void end(bool set_up = false) {
    open_ = false;
    check_nccl(nccl_library().group_end(), "ncclGroupEnd", set_up);
  }

 private:
  bool open_ = true;
};

class NcclLink final : public DeviceLink {
 public:
  NcclLink(const ncclUniqueId& id, const LinkedParts& linked, std::span<PartStreams> parts) {
    int count = 0;
    for (const char on_gpu : linked.on_gpu) number_of_part_.push_back(on_gpu != 0 ? count++ : -1);
    for (std::size_t p = 0; p < parts.size(); ++p)
      if (parts[p].device->kind() == DeviceKind::cuda) {
        Device& device = *parts[p].device;
        gpus_.push_back({&device, nullptr, device.make_event()});
        numbers_.push_back(number_of_part_[linked.mine[p]]);
      }
    begun_ = gpus_.front().device->make_event();
    try {
      Group group;
      for (std::size_t g = 0; g < gpus_.size(); ++g) {
        const cuda::CurrentDevice current(gpus_[g].device->index());
        check_nccl(nccl_library().init(&gpus_[g].comm, count, id, numbers_[g]), "ncclCommInitRank", true);
      }
      group.end(true);
    } catch (...) {
      abandon();
      throw;
    }
  }
  ~NcclLink() override {
    // The other ranks may be gone when this one ends with an error.
    if (std::uncaught_exceptions() > 0) abandon();
    for (Gpu& gpu : gpus_)
      if (gpu.comm != nullptr) nccl_library().destroy(gpu.comm);
  }

  void enqueue(Stream& stream, std::span<const LinkEnd> ends) override {
    const std::lock_guard lock(mutex_);
    require(!abandoned_, "messages after the link was given up");
    // The other GPUs of this rank begin with `stream`, and it goes on when they have ended.
    std::vector<std::pair<Stream*, Gpu*>> others;
    for (const LinkEnd& end : ends) {
      const auto known = [&](const auto& other) { return other.first == end.stream; };
      if (end.stream != &stream && std::none_of(others.begin(), others.end(), known))
        others.emplace_back(end.stream, &gpu_of(*end.stream));
    }
    if (!others.empty()) stream.record(*begun_);
    for (auto& [other, gpu] : others) other->wait(*begun_);
    Group group;
    for (const LinkEnd& end : ends) {
      const Gpu& gpu = gpu_of(*end.stream);
      const cuda::CurrentDevice current(gpu.device->index());
      const int other = number_of_part_[end.other_part];
      const auto native = static_cast<cudaStream_t>(end.stream->native());
      if (end.sends) {
        check_nccl(nccl_library().send(end.data, end.bytes, ncclInt8, other, gpu.comm, native), "ncclSend");
        gpu.device->counts().peer_bytes += static_cast<Size>(end.bytes);
        gpu.device->counts().copies += 1;
      } else {
        check_nccl(nccl_library().receive(end.data, end.bytes, ncclInt8, other, gpu.comm, native), "ncclRecv");
      }
    }
    group.end();
    for (auto& [other, gpu] : others) {
      other->record(*gpu->ended);
      stream.wait(*gpu->ended);
    }
  }

  void check() override {
    const std::lock_guard lock(mutex_);
    for (const Gpu& gpu : gpus_) {
      if (gpu.comm == nullptr) continue;
      ncclResult_t state = ncclSuccess;
      check_nccl(nccl_library().async_error(gpu.comm, &state), "ncclCommGetAsyncError");
      check_nccl(state, "a message between GPUs");
    }
  }

  void abandon() noexcept override {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    for (Gpu& gpu : gpus_)
      if (ncclComm_t comm = std::exchange(gpu.comm, nullptr); comm != nullptr) nccl_library().abort(comm);
  }

 private:
  struct Gpu {
    Device* device;
    ncclComm_t comm;
    std::unique_ptr<Event> ended;
  };
  Gpu& gpu_of(const Stream& stream) {
    return *std::find_if(gpus_.begin(), gpus_.end(), [&](const Gpu& gpu) { return gpu.device == &stream.device(); });
  }

  std::mutex mutex_;
  std::vector<Gpu> gpus_;            ///< of this rank
  std::vector<int> numbers_;         ///< their numbers in the communicator
  std::vector<int> number_of_part_;  ///< of all parts; -1: not on a GPU
  std::unique_ptr<Event> begun_;
  bool abandoned_ = false;
};

}  // namespace

NcclReport report_nccl() {
  const Nccl& nccl = nccl_library();
  if (!nccl.problem.empty()) return {"", nccl.problem};
  return {fmt::format("{}.{}.{}", nccl.version / 10000, nccl.version / 100 % 100, nccl.version % 100), ""};
}

std::unique_ptr<DeviceLink> make_nccl_link(const Comm& comm, const LinkedParts& linked, std::span<PartStreams> parts) {
  const bool has_gpu = std::any_of(parts.begin(), parts.end(),
                                   [](const PartStreams& part) { return part.device->kind() == DeviceKind::cuda; });
  std::vector<ncclUniqueId> id(1);
  comm.together([&] {
    if (!has_gpu) return;
    if (const NcclReport report = report_nccl(); report.version.empty())
      fail(ErrorKind::resource,
           "devices.transport = \"nccl\": NCCL cannot be used: {}; install it, put its folder into LD_LIBRARY_PATH, or "
           "use \"auto\"",
           report.problem);
    if (comm.rank() == linked.first_rank) check_nccl(nccl_library().get_unique_id(id.data()), "ncclGetUniqueId", true);
  });
  comm.broadcast(id, linked.first_rank);
  std::unique_ptr<DeviceLink> link;
  comm.together([&] {
    if (has_gpu) link = std::make_unique<NcclLink>(id.front(), linked, parts);
  });
  return link;
}

}  // namespace tutti

#endif
