#include "tutti/device/device_list.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include "tutti/base/log.hpp"
#include "tutti/base/random.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/host/core_load.hpp"

namespace tutti {
namespace {

// Of cores, GPUs and fake devices: far above any machine, far below an overflow.
constexpr int largest_number = 65535;

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > largest_number) return {};
  return value;
}

/// Adds the cores of "3" or "0-7"; false when it is neither.
bool add_cores(std::string_view text, std::vector<int>& cores) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return false;
  for (int c = *first; c <= *last; ++c) cores.push_back(c);
  return true;
}

[[noreturn]] void unknown_word(const std::string& list, const std::string& word) {
  const int gpus = cuda_device_count();
  fail(ErrorKind::usage,
       "--devices {}: unknown device '{}'; write all, cpu, cpu:CORES (as 0-7), cuda:I or fake:N; this host has cores "
       "{} and {} GPU{}",
       list, word, format_cores(allowed_cores()), gpus == 0 ? "no" : std::to_string(gpus), gpus == 1 ? "" : "s");
}

std::vector<std::string> split_words(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list + ",");
  for (std::string word; std::getline(stream, word, ',');) {
    word.erase(0, word.find_first_not_of(" \t"));
    word.erase(word.find_last_not_of(" \t") + 1);
    words.push_back(word);
  }
  return words;
}

/// The ranks of this host as a communicator that ends with this object.
struct HostComm {
  explicit HostComm(const Comm& comm) {
    check_mpi(MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &handle),
              "MPI_Comm_split_type");
  }
  ~HostComm() { MPI_Comm_free(&handle); }
  HostComm(const HostComm&) = delete;
  HostComm& operator=(const HostComm&) = delete;
  MPI_Comm handle = MPI_COMM_NULL;
};

/// Everyone's affinity mask, by local rank.
std::vector<std::vector<int>> gather_masks(const Comm& host) {
  const std::vector<int> count = {static_cast<int>(allowed_cores().size())};
  const auto counts = host.all_gather(std::span<const int>(count));
  const auto all = host.all_gather(std::span<const int>(allowed_cores()));
  std::vector<std::vector<int>> masks;
  auto begin = all.begin();
  for (const int n : counts) {
    masks.emplace_back(begin, begin + n);
    begin += n;
  }
  return masks;
}

/// The masks with only the cores that were asked for.
void restrict_masks(std::vector<std::vector<int>>& masks, const std::vector<int>& wanted, const std::string& list) {
  if (wanted.empty()) return;
  std::vector<int> known;
  for (const auto& mask : masks) known.insert(known.end(), mask.begin(), mask.end());
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const int core : wanted)
    if (!std::binary_search(known.begin(), known.end(), core))
      fail(ErrorKind::resource, "--devices {}: core {} is not available to tutti; choose from the cores {}", list, core,
           format_cores(known));
  for (auto& mask : masks) {
    std::erase_if(mask, [&](int core) { return !std::binary_search(wanted.begin(), wanted.end(), core); });
    if (mask.empty())
      fail(ErrorKind::resource,
           "--devices {}: a rank is bound to other cores than these; start mpirun with --bind-to none", list);
  }
}

/// Open MPI binds one or two ranks to one core each unless told otherwise: nobody wants that for a team.
void warn_of_idle_cores(const std::vector<std::vector<int>>& masks, const Comm& comm) {
  std::vector<int> bound;
  for (const auto& mask : masks) bound.insert(bound.end(), mask.begin(), mask.end());
  std::sort(bound.begin(), bound.end());
  const auto used = std::unique(bound.begin(), bound.end()) - bound.begin();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (comm.is_root() && std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr && used < online)
    warn("mpirun bound the ranks of this host to {} of its {} cores; --bind-to none lets them share all", used, online);
}

/// Cores of this host that other programs keep busy, alike on all its ranks, none of which works meanwhile. A core that
/// is busy for a moment only is not left out of a whole run: it is so at every look.
std::vector<int> find_busy(const std::vector<std::vector<int>>& masks, const Comm& host) {
  constexpr int looks = 3;
  std::vector<int> cores;
  for (const auto& mask : masks) cores.insert(cores.end(), mask.begin(), mask.end());
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  for (int look = 0; look < looks && !cores.empty(); ++look) {
    host.barrier();
    cores = busy_cores(cores, std::chrono::milliseconds(50));
    host.broadcast(cores);
  }
  return cores;
}

/// `quota`: threads that the control group lets work at a time. `chosen`: the user named the cores. The system knows
/// best where threads run that have not all cores of their share to themselves: two runs of one thread would be pinned
/// to the same core.
std::unique_ptr<Threads> make_threads(const std::vector<int>& share, int threads, int quota, bool chosen,
                                      const std::vector<int>& busy) {
  const auto cores = static_cast<int>(share.size());
  const auto taken = static_cast<int>(std::count_if(
      share.begin(), share.end(), [&](int core) { return std::binary_search(busy.begin(), busy.end(), core); }));
  const int count = threads > 0 ? threads : std::clamp(quota, 1, std::max(1, cores - taken));
  if (taken > 0)
    verbose("other programs use {} of {} cores: {} thread{}, not pinned", taken, cores, count, count == 1 ? "" : "s");
  if (count > cores || (!chosen && (count < cores || quota < cores || taken > 0)))
    return std::make_unique<Threads>(count);
  return std::make_unique<Threads>(count, std::vector<int>(share.begin(), share.begin() + count));
}

/// The GPUs of local rank `rank` of `ranks`: the list dealt out in turn.
std::vector<int> share_of_gpus(const DeviceRequest& request, const std::string& list, int rank, int ranks) {
  const int there = cuda_device_count();
  std::vector<int> gpus = request.gpus;
  for (const int gpu : gpus)
    if (gpu >= there)
      fail(ErrorKind::resource, "--devices {}: there is no cuda:{}; this host has {}", list, gpu,
           there == 0   ? std::string("no usable GPU")
           : there == 1 ? std::string("cuda:0")
                        : fmt::format("cuda:0 to cuda:{}", there - 1));
  if (request.all_gpus)
    for (int gpu = 0; gpu < there; ++gpu) gpus.push_back(gpu);
  std::vector<int> mine;
  for (std::size_t j = 0; j < gpus.size(); ++j)
    if (static_cast<int>(j) % ranks == rank) mine.push_back(gpus[j]);
  return mine;
}

DeviceSet open_on_host(const DeviceRequest& request, const std::string& list, const Comm& host,
                       std::vector<std::vector<int>> masks, const std::vector<int>& busy,
                       const DeviceOptions& options) {
  DeviceSet set;
  for (const int gpu : share_of_gpus(request, list, host.rank(), host.size()))
    set.devices.push_back(make_cuda_device(gpu, options.memory_limit));
  for (int k = 0; k < request.fakes; ++k) {
    const int index = host.rank() * request.fakes + k;
    FakeOptions fake = options.fake;
    fake.seed = random_bits(options.fake.seed, static_cast<std::uint64_t>(index));
    set.devices.push_back(make_fake_device(index, fake));
  }
  for (const auto& device : set.devices) device->limit_blocks(options.limit_blocks);
  if (set.devices.empty() && !request.cpu)
    fail(ErrorKind::resource, "--devices {}: {} ranks of one host share {} GPU{}; start fewer ranks or add cpu", list,
         host.size(), request.gpus.size(), request.gpus.size() == 1 ? "" : "s");

  restrict_masks(masks, request.cores, list);
  const std::vector<int> share = share_of_cores(masks, host.rank());
  const MachineLimits limits = read_machine_limits();
  const int quota = limits.whole_cores(largest_number * host.size()) / host.size();
  set.threads = make_threads(share, options.threads, quota, !request.cores.empty(), busy);
  if (request.cpu) set.devices.push_back(make_host_device(*set.threads, limits.available / host.size()));
  return set;
}

}  // namespace

DeviceRequest parse_devices(const std::string& list) {
  DeviceRequest request;
  bool all = false, in_cores = false;
  const auto twice = [&](const std::string& word) {
    fail(ErrorKind::usage, "--devices {}: '{}' is listed twice; give it once", list, word);
  };
  for (const std::string& word : split_words(list)) {
    if (in_cores && add_cores(word, request.cores)) continue;
    in_cores = false;
    const std::size_t colon = word.find(':');
    const std::string kind = word.substr(0, colon);
    const std::string rest = colon == std::string::npos ? "" : word.substr(colon + 1);
    const auto number = parse_number(rest);
    if (word == "all") {
      if (all) twice(word);
      all = true;
    } else if (kind == "cpu") {
      if (request.cpu) twice("cpu");
      request.cpu = true;
      in_cores = colon != std::string::npos;
      if (in_cores && !add_cores(rest, request.cores)) unknown_word(list, word);
    } else if (kind == "cuda" && number) {
      if (std::count(request.gpus.begin(), request.gpus.end(), *number) > 0) twice(word);
      request.gpus.push_back(*number);
    } else if (kind == "fake" && number && *number >= 1) {
      if (request.fakes > 0) twice("fake");
      request.fakes = *number;
    } else {
      unknown_word(list, word);
    }
  }
  std::sort(request.cores.begin(), request.cores.end());
  if (const auto it = std::adjacent_find(request.cores.begin(), request.cores.end()); it != request.cores.end())
    twice(fmt::format("core {}", *it));
  if (all && (request.cpu || !request.gpus.empty()))
    fail(ErrorKind::usage, "--devices {}: 'all' already has every GPU and the cpu; leave those out", list);
  request.all_gpus = all;
  request.cpu = request.cpu || all;
  return request;
}

std::vector<int> share_of_cores(const std::vector<std::vector<int>>& masks, int rank) {
  const std::vector<int>& mine = masks[rank];
  const auto ranks = static_cast<std::size_t>(std::count(masks.begin(), masks.end(), mine));
  const auto r = static_cast<std::size_t>(std::count(masks.begin(), masks.begin() + rank, mine));
  if (mine.size() < ranks) return {};
  const auto at = [&](std::size_t k) { return mine.begin() + static_cast<std::ptrdiff_t>(mine.size() * k / ranks); };
  return {at(r), at(r + 1)};
}

DeviceSet open_devices(const std::string& list, const Comm& comm, const DeviceOptions& options) {
  DeviceRequest request;
  comm.together([&] { request = parse_devices(list); });
  const HostComm host_comm(comm);
  const Comm host(host_comm.handle);
  auto masks = gather_masks(host);
  if (request.cpu && request.cores.empty() && options.threads == 0) warn_of_idle_cores(masks, comm);
  const bool would_pin = options.threads == 0 || options.threads * host.size() >= static_cast<int>(masks[0].size());
  const bool look = options.look_at_load && request.cores.empty() && would_pin;
  const std::vector<int> busy = look ? find_busy(masks, host) : std::vector<int>();
  DeviceSet set;
  comm.together([&] { set = open_on_host(request, list, host, std::move(masks), busy, options); });
  return set;
}

Device* first_gpu(const DeviceSet& set) {
  for (const auto& device : set.devices)
    if (device->kind() == DeviceKind::cuda) return device.get();
  return nullptr;
}

Device* device_with_room(const DeviceSet& set, Size bytes) {
  for (const auto& device : set.devices)
    if (!device->is_host() && device->budget().capacity() - device->budget().used() >= bytes) return device.get();
  return nullptr;
}

std::string describe(const DeviceSet& set) {
  std::string text;
  for (const auto& device : set.devices)
    text += fmt::format("{:<8}{}; {} for tutti\n", device->name(), device->description(),
                        format_bytes(static_cast<double>(device->budget().capacity())));
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace tutti
