// A device owns memory and runs kernels: the CPU team of this rank, a fake GPU, or a GPU. It knows nothing of meshes.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/types.hpp"

namespace tutti {

class Threads;

enum class DeviceKind : std::uint8_t { host, fake, cuda };

/// Where a Buffer lives: the device's own memory, or host memory that the device can copy from and to asynchronously.
enum class Memory : std::uint8_t { device, pinned };

/// Every allocation on a device is reserved here first. Thread safe.
class Budget {
 public:
  Budget(std::string owner, Size capacity) : owner_(std::move(owner)), capacity_(capacity) {}
  /// Takes `bytes` for the array `what`; pinned memory is the host's and is not charged. Error(resource) names the
  /// array, its bytes and what is left.
  void reserve(const std::string& what, Size bytes, Memory memory = Memory::device);
  void release(Size bytes, Memory memory = Memory::device) noexcept;
  /// Lets the k-th reservation (from 1) fail; 0: none. For fake devices.
  void fail_at(Size k) { fail_at_ = k; }
  Size capacity() const { return capacity_; }
  Size used() const;
  Size peak() const;

 private:
  std::string owner_;
  Size capacity_;
  Size used_ = 0;
  Size peak_ = 0;
  Size reservations_ = 0, fail_at_ = 0;
  mutable std::mutex mutex_;
};

/// What was moved to, from and inside a device since its start. Counted at enqueue; captured work once, when it is
/// captured.
struct CopyCounts {
  std::atomic<Size> to_device_bytes{0}, to_host_bytes{0}, peer_bytes{0}, local_bytes{0};
  std::atomic<Size> copies{0};
  std::atomic<Size> launches{0};
};

enum class CopyDirection : std::uint8_t { to_device, to_host, peer, local };

/// A mark in a stream. Fired when all work enqueued before its record() is done; unrecorded events count as fired.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool done() = 0;  ///< never blocks; throws what the work before it threw
  virtual void wait() = 0;  ///< blocks the calling thread
};

/// Work on the streams of one or more devices that was captured once, to be launched as a whole.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
};

class Device;

/// Where a kernel is enqueued.
struct KernelQueue {
  void* native = nullptr;      ///< cudaStream_t
  bool behind_kernel = false;  ///< it is launched with the attribute that lets it begin before the kernel before ends
};

/// An in-order queue of work on one device. Work of different streams may overlap.
class Stream {
 public:
  Stream(Device& device, std::string name) : device_(device), name_(std::move(name)) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const { return device_; }
  const std::string& name() const { return name_; }
  inline DeviceKind kind() const;

  /// Copies bytes. One side is this device's memory; the other is pinned host memory (to_device, to_host), another
  /// device's memory (peer) or this device's (local). The caller keeps both alive until the copy is done.
  virtual void copy(void* to, const void* from, std::size_t bytes, CopyDirection direction) = 0;
  /// Runs body(begin, end) over pieces of the range. The body reads and writes device memory only. Host and fake only:
  /// a GPU runs kernels through for_each (for_each.hpp).
  virtual void loop(Range range, const std::function<void(Lid, Lid)>& body) = 0;
  /// The next loop or kernel also writes `bytes` bytes of the array at `peer`, which is another device's memory; it is
  /// called once for each such array.
  virtual void reach(void* /*peer*/, std::size_t /*bytes*/) {}
  virtual void record(Event& event) = 0;
  virtual void wait(Event& event) = 0;        ///< later work of this stream waits for the event
  virtual void synchronize() = 0;             ///< blocks until all is done; throws what the work threw
  virtual void* native() { return nullptr; }  ///< cudaStream_t of a GPU stream
  /// The same for the one kernel that is enqueued next, which waits for earlier work itself (cuda/launch.hpp).
  virtual KernelQueue queue_for_kernel() { return {native(), false}; }

  /// From now on work is noted and not done: that of this stream, and of streams once they wait for an event that was
  /// recorded in it. False: this kind of device cannot.
  virtual bool begin_capture() { return false; }
  /// What was noted. This stream must wait for all other streams that took part.
  virtual std::unique_ptr<CapturedWork> end_capture() { return nullptr; }
  virtual void launch(CapturedWork&) {}  ///< enqueues all of it

  /// Work for this stream is held back, to be enqueued together with more. Whoever uses the stream next comes behind
  /// it: `release`, which enqueues it, is called first.
  void hold(std::function<void()> release) {
    before_use();
    release_ = std::move(release);
  }
  void forget_held() { release_ = nullptr; }  ///< the work held back is enqueued now, or never
  void release_held() { before_use(); }

 protected:
  /// Each backend calls it before anything else is enqueued or waited for.
  void before_use() {
    if (release_) std::exchange(release_, nullptr)();
  }

 private:
  Device& device_;
  std::string name_;
  std::function<void()> release_;
};

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceKind kind() const { return kind_; }
  int index() const { return index_; }               ///< number among the devices of its kind on this host
  const std::string& name() const { return name_; }  ///< "cpu", "fake:0", "cuda:1": the word of --devices
  virtual std::string description() const = 0;       ///< model name, cores, memory
  /// What its memory could move at most by its clock and width, bytes/s; 0 where the system does not tell.
  virtual double peak_bandwidth() const { return 0; }
  bool is_host() const { return kind_ == DeviceKind::host; }
  Budget& budget() { return budget_; }
  CopyCounts& counts() { return counts_; }
  /// Thread blocks of 128 rows that a model launches at a time; 0: all. An experiment, to make a GPU slow.
  Lid block_limit() const { return block_limit_; }
  void limit_blocks(Lid limit) { block_limit_ = limit; }

  /// `urgent`: its kernels start before those of other streams that wait for room on the device.
  virtual std::unique_ptr<Stream> make_stream(const std::string& name, bool urgent = false) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  /// True when this device can read and write `other`'s memory without the host (NVLink, PCIe peer).
  virtual bool can_copy_from(const Device& other) const { return &other == this; }

  /// May the host, and MPI with it, read and write its memory while none of its work uses it?
  virtual bool host_can_touch() const { return is_host(); }

  /// Raw memory; Buffer is the only caller. Error(resource) when the machine has none left.
  virtual void* allocate(std::size_t bytes, Memory memory) = 0;
  virtual void deallocate(void* pointer, std::size_t bytes, Memory memory) noexcept = 0;

 protected:
  Device(DeviceKind kind, int index, std::string name, Size capacity)
      : kind_(kind), index_(index), name_(name), budget_(std::move(name), capacity) {}

 private:
  DeviceKind kind_;
  int index_;
  std::string name_;
  Budget budget_;
  CopyCounts counts_;
  Lid block_limit_ = 0;
};

inline DeviceKind Stream::kind() const {
  return device_.kind();
}

/// The CPU team as a device: its memory is the host's, its streams run at once on the calling thread's team.
/// `capacity` is in bytes.
std::unique_ptr<Device> make_host_device(Threads& threads, Size capacity);

struct FakeOptions {
  Size memory = Size{512} << 20;  ///< bytes
  std::uint64_t seed = 1;         ///< of the delays and of the order of a loop's pieces
  double max_delay_us = 50;       ///< before an eighth of the pieces of work
  bool peer = true;               ///< can_copy_from() other fake devices
  Size fail_after_launches = -1;  ///< >= 0: the device is lost at this launch; then all its work throws Error(peer)
  Size fail_allocation = 0;       ///< k > 0: the k-th allocation fails as if the memory were full
  bool open = false;              ///< its memory is not protected: MPI can use it, as a CUDA-aware one uses a GPU's
};
/// A GPU that is not one (docs/explanation/fake-device.md): protected, NaN-poisoned memory and asynchronous streams.
/// A copy whose ends are not in the memory its direction says is std::logic_error at enqueue. A stream whose work threw
/// does no more work; its events and synchronize() throw what the work threw.
std::unique_ptr<Device> make_fake_device(int index, const FakeOptions& options);

/// Number of GPUs this process can use; 0 without CUDA or a driver.
int cuda_device_count();
/// GPU `index`; `memory_limit` > 0 lowers its budget. Error(resource) when tutti was built without CUDA or it is not
/// there.
std::unique_ptr<Device> make_cuda_device(int index, Size memory_limit = 0);

}  // namespace tutti
