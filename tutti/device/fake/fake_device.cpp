// A GPU that is not one: what it does is slow, late and in odd order, but right exactly when the program is.
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/fake/fake_memory.hpp"
#include "tutti/device/threads.hpp"

namespace tutti {
namespace {

/// One record() of an event: later record() calls make a new one, so that a waiter keeps what it waited for.
class Mark {
 public:
  void fire(std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    fired_ = true;
    error_ = std::move(error);
    changed_.notify_all();
  }
  bool fired() {
    std::lock_guard lock(mutex_);
    if (fired_ && error_) std::rethrow_exception(error_);
    return fired_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return fired_; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool fired_ = false;
  std::exception_ptr error_;
};

class FakeEvent final : public Event {
 public:
  bool done() override {
    const auto m = mark();
    return !m || m->fired();
  }
  void wait() override {
    if (const auto m = mark()) m->wait();
  }
  std::shared_ptr<Mark> mark() {
    std::lock_guard lock(mutex_);
    return mark_;
  }
  std::shared_ptr<Mark> new_mark() {
    std::lock_guard lock(mutex_);
    mark_ = std::make_shared<Mark>();
    return mark_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Mark> mark_;
};

/// What the streams of one fake device share.
struct Shared {
  std::string name;
  FakeOptions options;
  std::shared_ptr<fake::Memory> memory = fake::make_memory();
  std::atomic<Size> loops{0};
  std::atomic<bool> lost{false};
};

class FakeStream final : public Stream {
 public:
  FakeStream(Device& device, const std::string& name, std::shared_ptr<Shared> shared, std::uint64_t seed)
      : Stream(device, name), shared_(std::move(shared)), seed_(seed), thread_([this] { serve(); }) {}
  ~FakeStream() override {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void copy(void* to, const void* from, std::size_t bytes, CopyDirection direction) override {
    if (bytes == 0) return;
    const auto other = check_copy(to, from, bytes, direction);
    count_copy(bytes, direction);
    enqueue([this, to, from, bytes, other] {
      check_alive();
      fake::Access mine(shared_->memory), theirs(other);
      std::memmove(to, from, bytes);
    });
  }

  void loop(Range range, const std::function<void(Lid, Lid)>& body) override {
    if (range.empty()) return;
    device().counts().launches += 1;
    const bool fatal =
        shared_->options.fail_after_launches >= 0 && shared_->loops++ >= shared_->options.fail_after_launches;
    enqueue([this, range, body, fatal] {
      if (fatal) shared_->lost = true;
      check_alive();
      fake::Access mine(shared_->memory);
      run_in_odd_order(range, body);
    });
  }

  void record(Event& event) override {
    auto* fake_event = dynamic_cast<FakeEvent*>(&event);
    require(fake_event != nullptr, "{}: an event of another kind of device cannot be recorded here", device().name());
    enqueue_mark(fake_event->new_mark());
  }

  void wait(Event& event) override {
    if (auto* fake_event = dynamic_cast<FakeEvent*>(&event)) {
      if (const auto mark = fake_event->mark()) enqueue([mark] { mark->wait(); });
    } else {
      event.wait();
    }
  }

  void synchronize() override {
    const auto mark = std::make_shared<Mark>();
    enqueue_mark(mark);
    mark->wait();
  }

 private:
  struct Item {
    std::function<void()> work;
    std::shared_ptr<Mark> mark;  ///< instead of work
  };

  void enqueue(std::function<void()> work) { push({std::move(work), nullptr}); }
  void enqueue_mark(std::shared_ptr<Mark> mark) { push({nullptr, std::move(mark)}); }
  void push(Item item) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(item));
    }
    changed_.notify_all();
  }

  /// The stream's thread: takes work in order until the stream closes. After an error it does no more work, but its
  /// marks still fire and hand the error on.
  void serve() {
    release_cores();
    prctl(PR_SET_TIMERSLACK, 1000ul);  // nanoseconds; sleeps of microseconds would else take 50 of them
    pthread_setname_np(pthread_self(), ("fake " + name()).substr(0, 15).c_str());
    std::exception_ptr error;
    while (true) {
      Item item;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
        if (queue_.empty()) return;
        item = std::move(queue_.front());
        queue_.pop_front();
      }
      if (item.mark) {
        item.mark->fire(error);
      } else if (!error) {
        delay();
        try {
          item.work();
        } catch (...) {
          error = std::current_exception();
        }
      }
    }
  }

  /// Half of the work starts at once, the rest late.
  void delay() {
    const std::uint64_t n = counter_++;
    if (shared_->options.max_delay_us <= 0 || random_unit(seed_, 2 * n) < 0.5) return;
    const double us = random_unit(seed_, 2 * n + 1) * shared_->options.max_delay_us;
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us));
  }

  void run_in_odd_order(Range range, const std::function<void(Lid, Lid)>& body) {
    const std::uint64_t order_seed = mix64(seed_ + 0x10000 + counter_);
    const Lid pieces = std::min(range.size(), static_cast<Lid>(1 + random_bits(order_seed, 0) % 8));
    std::vector<Lid> order(static_cast<std::size_t>(pieces));
    for (Lid p = 0; p < pieces; ++p) {
      const auto j = static_cast<std::size_t>(random_bits(order_seed, static_cast<std::uint64_t>(p) + 1) %
                                              (static_cast<std::uint64_t>(p) + 1));
      order[static_cast<std::size_t>(p)] = order[j];
      order[j] = p;
    }
    const auto cut = [&](Lid p) {
      return range.begin + static_cast<Lid>(static_cast<Size>(range.size()) * p / pieces);
    };
    for (const Lid p : order) body(cut(p), cut(p + 1));
  }

  void check_alive() const {
    if (shared_->lost) fail(ErrorKind::peer, "{}: the device was lost; start again from a checkpoint", shared_->name);
  }

  /// A GPU would refuse or corrupt these; here they are bugs found at once. Returns the other fake device's memory of a
  /// peer copy.
  std::shared_ptr<fake::Memory> check_copy(const void* to, const void* from, std::size_t bytes,
                                           CopyDirection direction) const {
    const auto to_owner = fake::owner_of(to, bytes);
    const auto from_owner = fake::owner_of(from, bytes);
    const auto& mine = shared_->memory;
    const bool right = direction == CopyDirection::to_device ? to_owner == mine && !from_owner
                       : direction == CopyDirection::to_host ? !to_owner && from_owner == mine
                       : direction == CopyDirection::local   ? to_owner == mine && from_owner == mine
                                                             : to_owner && from_owner && to_owner != from_owner &&
                                                                 (to_owner == mine || from_owner == mine);
    static constexpr const char* names[] = {"to the device", "to the host", "between peers", "inside the device"};
    require(right, "{}: a copy of {} bytes {} whose ends are not in such memory, or reach beyond an array",
            shared_->name, bytes, names[static_cast<int>(direction)]);
    if (direction != CopyDirection::peer) return nullptr;
    require(shared_->options.peer, "{}: a peer copy, but its peers cannot be reached", shared_->name);
    return to_owner == mine ? from_owner : to_owner;
  }

  void count_copy(std::size_t bytes, CopyDirection direction) {
    CopyCounts& counts = device().counts();
    auto& counter = direction == CopyDirection::to_device ? counts.to_device_bytes
                    : direction == CopyDirection::to_host ? counts.to_host_bytes
                    : direction == CopyDirection::peer    ? counts.peer_bytes
                                                          : counts.local_bytes;
    counter += static_cast<Size>(bytes);
    counts.copies += 1;
  }

  std::shared_ptr<Shared> shared_;
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;  ///< pieces of work started; of the stream's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool closing_ = false;
  std::thread thread_;  ///< last: it starts when all else is there
};

class FakeDevice final : public Device {
 public:
  FakeDevice(int index, const FakeOptions& options)
      : Device(DeviceKind::fake, index, fmt::format("fake:{}", index), options.memory) {
    shared_->name = name();
    shared_->options = options;
    budget().fail_at(options.fail_allocation);
  }
  std::string description() const override {
    return fmt::format("fake GPU, {} (for tests: slow on purpose)",
                       format_bytes(static_cast<double>(shared_->options.memory)));
  }
  std::unique_ptr<Stream> make_stream(const std::string& stream_name) override {
    const std::uint64_t number = streams_++;
    const std::uint64_t seed = random_bits(shared_->options.seed, static_cast<std::uint64_t>(index()) << 32 | number);
    return std::make_unique<FakeStream>(*this, stream_name, shared_, seed);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<FakeEvent>(); }
  bool can_copy_from(const Device& other) const override {
    return &other == this || (other.kind() == DeviceKind::fake && shared_->options.peer);
  }

  void* allocate(std::size_t bytes, Memory memory) override {
    void* pointer = nullptr;
    if (memory == Memory::device) {
      pointer = shared_->memory->allocate(bytes);
    } else if ((pointer = std::aligned_alloc(64, (bytes + 63) / 64 * 64)) != nullptr) {
      std::memset(pointer, 0xFF, bytes);
    }
    if (pointer == nullptr)
      fail(ErrorKind::resource, "{}: the system has no {} left; use more nodes or a smaller mesh", name(),
           format_bytes(static_cast<double>(bytes)));
    return pointer;
  }
  void deallocate(void* pointer, std::size_t, Memory memory) noexcept override {
    if (memory == Memory::device)
      shared_->memory->deallocate(pointer);
    else
      std::free(pointer);
  }

 private:
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::atomic<std::uint64_t> streams_{0};
};

}  // namespace

std::unique_ptr<Device> make_fake_device(int index, const FakeOptions& options) {
  return std::make_unique<FakeDevice>(index, options);
}

}  // namespace tutti
