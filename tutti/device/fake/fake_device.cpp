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
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/base/system/start_thread.hpp"
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
    {
      std::lock_guard lock(mutex_);
      fired_ = true;
      error_ = std::move(error);
    }
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

class FakeStream;
class FakeCapture;

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
    capture_ = nullptr;
    return mark_;
  }
  /// Recorded while work is captured: the capture and the number of its mark.
  std::pair<FakeCapture*, std::size_t> captured() const { return {capture_, captured_mark_}; }
  void set_captured(FakeCapture* capture, std::size_t mark) {
    capture_ = capture;
    captured_mark_ = mark;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Mark> mark_;
  FakeCapture* capture_ = nullptr;
  std::size_t captured_mark_ = 0;
};

/// What streams would have done while they were captured, in the order of the calls.
class FakeCapture final : public CapturedWork {
 public:
  explicit FakeCapture(FakeStream& origin) { join(origin); }
  void join(FakeStream& stream) { seen_.try_emplace(&stream); }
  void add(FakeStream& stream, std::function<void()> work, std::function<void()> count) {
    steps_.push_back({&stream, std::move(work), std::move(count), 0, Kind::work});
    advance(stream);
  }
  /// Returns the mark's number.
  std::size_t add_mark(FakeStream& stream) {
    steps_.push_back({&stream, nullptr, nullptr, known_at_.size(), Kind::mark});
    advance(stream);
    known_at_.push_back(seen_[&stream]);
    return known_at_.size() - 1;
  }
  void add_wait(FakeStream& stream, std::size_t mark) {
    for (const auto& [other, count] : known_at_[mark]) {
      auto& known = seen_[&stream][other];
      known = std::max(known, count);
    }
    steps_.push_back({&stream, nullptr, nullptr, mark, Kind::wait});
  }
  /// All streams that took part.
  std::vector<FakeStream*> streams() const {
    std::vector<FakeStream*> all;
    for (const auto& [stream, _] : seen_) all.push_back(stream);
    return all;
  }
  /// CUDA, too, refuses a capture whose origin does not wait for all of them.
  void check_joined(FakeStream& origin) {
    for (FakeStream* stream : streams())
      require(seen_[&origin][stream] >= done_[stream], "work of a stream was captured that nothing waits for");
  }
  void launch(FakeStream& on);

 private:
  enum class Kind : std::uint8_t { work, mark, wait };
  struct Item {
    FakeStream* stream;
    std::function<void()> work, count;
    std::size_t mark;
    Kind kind;
  };
  using Known = std::map<FakeStream*, std::size_t>;  ///< so many steps of each stream are known to come before
  void advance(FakeStream& stream) { seen_[&stream][&stream] = ++done_[&stream]; }

  std::vector<Item> steps_;
  std::map<FakeStream*, Known> seen_;
  std::map<FakeStream*, std::size_t> done_;
  std::vector<Known> known_at_;  ///< a mark
};

/// What the streams of one fake device share.
struct Shared {
  Shared(std::string its_name, const FakeOptions& its_options)
      : name(std::move(its_name)), options(its_options), memory(fake::make_memory(options.open)) {}
  std::string name;
  FakeOptions options;
  std::shared_ptr<fake::Memory> memory;
  std::atomic<Size> loops{0};
  std::atomic<bool> lost{false};
};

/// What a stream's next loop writes besides the memory of its device. Each thread has its own: a link of GPUs enqueues
/// on the streams of parts while others do.
struct Reached {
  const Stream* stream = nullptr;
  std::shared_ptr<fake::Memory> memory;
  Size bytes = 0;
};
thread_local Reached reached;

class FakeStream final : public Stream {
 public:
  FakeStream(Device& device, const std::string& name, std::shared_ptr<Shared> shared, std::uint64_t seed)
      : Stream(device, name),
        shared_(std::move(shared)),
        seed_(seed),
        thread_(start_thread("a fake device", [this] { serve(); })) {}
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
    enqueue(
        [this, to, from, bytes, other] {
          check_alive();
          fake::Access mine(shared_->memory), theirs(other);
          std::memmove(to, from, bytes);
        },
        [this, bytes, direction] { count_copy(bytes, direction); });
  }

  void reach(void* peer, std::size_t bytes) override {
    const auto owner = fake::owner_of(peer, bytes);
    require(owner && owner != shared_->memory, "{}: no array of a peer of {} bytes", shared_->name, bytes);
    require(shared_->options.peer, "{}: memory of a peer is written, but its peers cannot be reached", shared_->name);
    if (reached.stream != this) reached = {this, nullptr, 0};
    require(!reached.memory || reached.memory == owner, "{}: a loop that writes memory of two peers", shared_->name);
    reached.memory = owner;
    reached.bytes += static_cast<Size>(bytes);
  }

  void loop(Range range, const std::function<void(Lid, Lid)>& body) override {
    const Reached taken = reached.stream == this ? std::exchange(reached, {}) : Reached();
    const auto peer = taken.memory;
    const Size peer_bytes = taken.bytes;
    if (range.empty()) return;
    enqueue(
        [this, range, body, peer] {
          if (shared_->options.fail_after_launches >= 0 && shared_->loops++ >= shared_->options.fail_after_launches)
            shared_->lost = true;
          check_alive();
          fake::Access mine(shared_->memory), theirs(peer);
          run_in_odd_order(range, body);
        },
        [this, peer_bytes] {
          device().counts().launches += 1;
          device().counts().peer_bytes += peer_bytes;
        });
  }

  void record(Event& event) override {
    before_use();
    auto* fake_event = dynamic_cast<FakeEvent*>(&event);
    require(fake_event != nullptr, "{}: an event of another kind of device cannot be recorded here", device().name());
    if (capture_ != nullptr)
      fake_event->set_captured(capture_, capture_->add_mark(*this));
    else
      enqueue_mark(fake_event->new_mark());
  }

  void wait(Event& event) override {
    before_use();
    auto* fake_event = dynamic_cast<FakeEvent*>(&event);
    if (fake_event == nullptr) {
      event.wait();
      return;
    }
    if (const auto [capture, number] = fake_event->captured(); capture != nullptr) {
      require(capture_ == nullptr || capture_ == capture, "{}: an event of another capture", device().name());
      if (capture_ == nullptr) {
        capture_ = capture;
        capture->join(*this);
      }
      capture->add_wait(*this, number);
      return;
    }
    require(capture_ == nullptr, "{}: captured work waits for an event from outside", device().name());
    if (const auto mark = fake_event->mark()) push_wait(mark);
  }

  void synchronize() override {
    before_use();
    require(capture_ == nullptr, "{}: a stream is waited for while its work is captured", device().name());
    const auto mark = std::make_shared<Mark>();
    enqueue_mark(mark);
    mark->wait();
  }

  bool begin_capture() override {
    before_use();
    capturing_ = std::make_unique<FakeCapture>(*this);
    capture_ = capturing_.get();
    return true;
  }
  std::unique_ptr<CapturedWork> end_capture() override {
    auto captured = std::move(capturing_);
    for (FakeStream* stream : captured->streams()) stream->capture_ = nullptr;
    captured->check_joined(*this);
    return captured;
  }
  void launch(CapturedWork& work) override {
    before_use();
    auto* capture = dynamic_cast<FakeCapture*>(&work);
    require(capture != nullptr, "{}: captured work of another kind of device", device().name());
    capture->launch(*this);
  }

  /// Captured work is not done by the streams that were captured but by such ones: nothing but the launching stream
  /// orders it.
  FakeStream& twin() {
    if (!twin_) twin_ = std::make_unique<FakeStream>(device(), name(), shared_, mix64(seed_ + 1));
    return *twin_;
  }
  void enqueue_mark(std::shared_ptr<Mark> mark) { push({nullptr, std::move(mark)}); }
  void push_wait(const std::shared_ptr<Mark>& mark) {
    push({[mark] { mark->wait(); }, nullptr});
  }
  void push_work(std::function<void()> work) { push({std::move(work), nullptr}); }

 private:
  struct Item {
    std::function<void()> work;
    std::shared_ptr<Mark> mark;  ///< instead of work
  };

  /// `count` is called when the work is enqueued: for captured work at each launch.
  void enqueue(std::function<void()> work, std::function<void()> count) {
    before_use();
    if (capture_ != nullptr) {
      capture_->add(*this, std::move(work), std::move(count));
      return;
    }
    count();
    push_work(std::move(work));
  }
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

  /// An eighth of the work starts late. Shorter delays of more work cost more of a core's time: each sleep is two
  /// switches of threads.
  void delay() {
    const std::uint64_t n = counter_++;
    if (shared_->options.max_delay_us <= 0 || random_unit(seed_, 2 * n) < 0.875) return;
    const double us = random_unit(seed_, 2 * n + 1) * shared_->options.max_delay_us;
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us));
  }

  void run_in_odd_order(Range range, const std::function<void(Lid, Lid)>& body) {
    const std::uint64_t order_seed = mix64(seed_ + 0x10000 + counter_);
    const Lid pieces = std::min(range.size(), static_cast<Lid>(1 + random_bits(order_seed, 0) % 8));
    std::vector<Lid> order(pieces);
    for (Lid p = 0; p < pieces; ++p) {
      const auto j = static_cast<std::size_t>(random_bits(order_seed, static_cast<std::uint64_t>(p) + 1) %
                                              (static_cast<std::uint64_t>(p) + 1));
      order[p] = order[j];
      order[j] = p;
    }
    const auto cut = [&](Lid p) {
      return range.begin + static_cast<Lid>(static_cast<Size>(range.size()) * p / pieces);
    };
    for (const Lid p : order) body(cut(p), cut(p + 1));
  }

  void check_alive() const {
    if (shared_->lost) fail(ErrorKind::peer, "{}: the device was lost; restart from a checkpoint", shared_->name);
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
  std::atomic<std::uint64_t> counter_ = 0;  ///< pieces of work started; captured work looks at it from its own thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool closing_ = false;
  FakeCapture* capture_ = nullptr;  ///< notes the work of this stream
  std::unique_ptr<FakeCapture> capturing_;
  std::unique_ptr<FakeStream> twin_;
  std::thread thread_;  ///< last: it starts when all else is there
};

void FakeCapture::launch(FakeStream& on) {
  const auto begin = std::make_shared<Mark>();
  on.enqueue_mark(begin);
  std::vector<std::shared_ptr<Mark>> marks;
  for (std::size_t m = 0; m < known_at_.size(); ++m) marks.push_back(std::make_shared<Mark>());
  for (const auto& [stream, _] : seen_) stream->twin().push_wait(begin);
  for (const Item& item : steps_) {
    FakeStream& twin = item.stream->twin();
    switch (item.kind) {
      case Kind::work:
        item.count();
        twin.push_work(item.work);
        break;
      case Kind::mark:
        twin.enqueue_mark(marks[item.mark]);
        break;
      case Kind::wait:
        twin.push_wait(marks[item.mark]);
        break;
    }
  }
  for (const auto& [stream, _] : seen_) {
    const auto end = std::make_shared<Mark>();
    stream->twin().enqueue_mark(end);
    on.push_wait(end);
  }
}

class FakeDevice final : public Device {
 public:
  FakeDevice(int index, const FakeOptions& options)
      : Device(DeviceKind::fake, index, fmt::format("fake:{}", index), options.memory),
        shared_(std::make_shared<Shared>(name(), options)) {
    budget().fail_at(options.fail_allocation);
  }
  // Any number would do: weights that follow from peaks are the same on every machine.
  double peak_bandwidth() const override { return 100e9; }
  std::string description() const override {
    return fmt::format("fake GPU, {} (for tests: slow on purpose)",
                       format_bytes(static_cast<double>(shared_->options.memory)));
  }
  std::unique_ptr<Stream> make_stream(const std::string& stream_name, bool) override {
    const std::uint64_t number = streams_++;
    const std::uint64_t seed = random_bits(shared_->options.seed, static_cast<std::uint64_t>(index()) << 32 | number);
    return std::make_unique<FakeStream>(*this, stream_name, shared_, seed);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<FakeEvent>(); }
  bool can_copy_from(const Device& other) const override {
    return &other == this || (other.kind() == DeviceKind::fake && shared_->options.peer);
  }

  bool host_can_touch() const override { return shared_->options.open; }

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
  std::shared_ptr<Shared> shared_;
  std::atomic<std::uint64_t> streams_{0};
};

}  // namespace

std::unique_ptr<Device> make_fake_device(int index, const FakeOptions& options) {
  return std::make_unique<FakeDevice>(index, options);
}

}  // namespace tutti
