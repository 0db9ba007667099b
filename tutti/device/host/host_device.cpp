// The CPU team as a device. Its streams do their work before they return, so events have always fired.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include "tutti/base/raw_vector.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/threads.hpp"

namespace tutti {
namespace {

class HostEvent final : public Event {
 public:
  bool done() override { return true; }
  void wait() override {}
};

constexpr std::size_t parallel_copy = std::size_t{1} << 20;  // bytes

class HostStream final : public Stream {
 public:
  HostStream(Device& device, const std::string& name, Threads& threads) : Stream(device, name), threads_(threads) {}
  void copy(void* to, const void* from, std::size_t bytes, CopyDirection) override {
    if (bytes == 0) return;
    const auto* source = static_cast<const std::byte*>(from);
    auto* target = static_cast<std::byte*>(to);
    const bool apart = !std::less<>()(source, target + bytes) || !std::less<>()(target, source + bytes);
    // The threads that will work on a large array touch it first: its pages then lie in their memory.
    if (bytes >= parallel_copy && apart)
      threads_.for_range(static_cast<Size>(bytes), [&](Size begin, Size end) {
        std::memcpy(target + begin, source + begin, static_cast<std::size_t>(end - begin));
      });
    else
      std::memmove(to, from, bytes);
    device().counts().local_bytes += static_cast<Size>(bytes);
    device().counts().copies += 1;
  }
  void loop(Range range, const std::function<void(Lid, Lid)>& body) override {
    threads_.for_range(range.size(), [&](Size begin, Size end) {
      body(range.begin + static_cast<Lid>(begin), range.begin + static_cast<Lid>(end));
    });
  }
  void record(Event& event) override {
    require(dynamic_cast<HostEvent*>(&event) != nullptr, "cpu: an event of another device cannot be recorded here");
  }
  // Later work of this stream runs on the calling thread, so that is what waits for another device's event.
  void wait(Event& event) override { event.wait(); }
  void synchronize() override {}

 private:
  Threads& threads_;
};

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line))
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "CPU";
}

class HostDevice final : public Device {
 public:
  HostDevice(Threads& threads, Size capacity) : Device(DeviceKind::host, 0, "cpu", capacity), threads_(threads) {}
  std::string description() const override {
    return fmt::format("{}, {} thread{}{}", cpu_model(), threads_.count(), threads_.count() == 1 ? "" : "s",
                       threads_.cores().empty() ? "" : " on cores " + format_cores(threads_.cores()));
  }
  std::unique_ptr<Stream> make_stream(const std::string& name, bool) override {
    return std::make_unique<HostStream>(*this, name, threads_);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<HostEvent>(); }

  void* allocate(std::size_t bytes, Memory) override {
    void* pointer = allocate_large(bytes);
    if (pointer == nullptr)
      fail(ErrorKind::resource, "cpu: the system has no {} left; use more nodes or a smaller mesh",
           format_bytes(static_cast<double>(bytes)));
    return pointer;
  }
  void deallocate(void* pointer, std::size_t, Memory) noexcept override { std::free(pointer); }

 private:
  Threads& threads_;
};

}  // namespace

std::unique_ptr<Device> make_host_device(Threads& threads, Size capacity) {
  return std::make_unique<HostDevice>(threads, capacity);
}

}  // namespace tutti
