// A whole restart from a checkpoint whose checksums are right and whose content is forged: all that `tutti run CASE
// --restart FILE` does, on one rank, for a tiny case of each model. It ends in an Error, or its fields are finite.
//
// The input edits a good checkpoint that this program has written itself, so it is of this version and this format: its
// first byte chooses the model, each 8 bytes behind it are an edit: what is done (1), where (3), and with what (4).
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "fuzz.hpp"
#include "tutti/base/hash.hpp"
#include "tutti/base/system/program.hpp"
#include "tutti/base/version.hpp"
#include "tutti/io/checkpoint/checkpoint_header.hpp"
#include "tutti/models/diffusion/diffusion_kind.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/transport/transport_kind.hpp"
#include "tutti/simulation/simulation.hpp"

using namespace tutti;
namespace fs = std::filesystem;

namespace {

constexpr const char* ends = R"toml(
[time]
steps = 6
[output]
every = 2
history_every = 1
[checkpoint]
every = 2
minutes = 0
[report]
every = 1
[balance]
weights = "equal"
rebalance = false
)toml";
const std::array<std::string, 3> cases = {
    R"toml(model = "diffusion"
[mesh]
generate = "box"
cubes = [2, 2, 1]
[physics]
K = "1 + x"
initial = "x*y"
source = "t"
)toml",
    R"toml(model = "incompressible"
[grid]
cells = [4, 3, 3]
[fluid]
viscosity = 0.01
[[scalar]]
name = "dye"
diffusivity = 0.01
initial = "x"
[[boundary]]
face = "y-upper"
value = [1, 0, 0]
)toml",
    R"toml(model = "transport"
[nodes]
generate = "icosahedral"
count = 362
[stencil]
size = 25
exponent = 5
degree = 4
[velocity]
east = "cos(lat)"
[[tracer]]
name = "dye"
initial = "z"
)toml"};

const ModelKinds& kinds() {
  static const ModelKinds all{diffusion::diffusion_kind(), incompressible::incompressible_kind(),
                              transport::transport_kind()};
  return all;
}

void check_fields(Model& model) {
  const ModelState state = model.state();
  for (const StateField& field : state.fields)
    for (std::size_t p = 0; p < state.maps.size(); ++p) {
      std::vector<double> values(static_cast<std::size_t>(state.maps[p].owned) *
                                 static_cast<std::size_t>(field.components));
      field.save(p, values);
      for (const double v : values) fuzz::check(std::isfinite(v), "a field is not finite, and the run ended in order");
    }
}

/// All that the runs share. Their folder goes with the process.
struct Runs {
  Runs() {
    int there = 0, provided = 0;
    MPI_Initialized(&there);
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
    if (there == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    // In memory where that can be: a run waits for the disk again and again.
    const fs::path memory = "/dev/shm";
    std::string name = ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "tutti_fuzz_XXXXXX").string();
    fuzz::check(::mkdtemp(name.data()) != nullptr, "no folder");
    folder = name;
    for (std::size_t m = 0; m < cases.size(); ++m) bodies[m] = write_seed(m);
  }
  ~Runs() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    MPI_Finalize();
  }

  Case read_case(std::size_t m, const Comm& comm) const {
    (void)comm;
    const std::string model = model_names(kinds())[m];
    return parse_case(cases[m] + ends, "case.toml", schema_of(kinds(), model), {});
  }

  /// A run of the model, from the start or from a checkpoint.
  void run(std::size_t m, const Restart* restart, const std::vector<std::int32_t>& owners) const {
    const Comm comm;
    const Case options = read_case(m, comm);
    DeviceOptions device_options;
    device_options.threads = 1;
    DeviceSet devices = open_devices("cpu", comm, device_options);
    StoredPartition stored;
    if (restart != nullptr) {
      stored.devices = restart->state.devices;
      stored.owner = owners;
    }
    Phases phases;
    Trace trace;
    const auto model = create_model(
        {comm, devices, options, folder / "mesh", phases, restart != nullptr ? &stored : nullptr}, kinds());
    simulate(comm, *model, devices, options, {folder, phases, trace, restart});
    check_fields(*model);
  }

  /// What lies between header and table in the checkpoint of the fourth step.
  std::string write_seed(std::size_t m) const {
    run(m, nullptr, {});
    std::ifstream file(checkpoint_name(folder / "checkpoints", 4), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    fuzz::check(!bytes.empty(), "there is no checkpoint");
    const CheckpointHeader header =
        parse_checkpoint_header(std::span(bytes.data(), static_cast<std::size_t>(checkpoint_header_bytes)),
                                static_cast<Size>(bytes.size()), "");
    fs::remove_all(folder);
    fs::create_directories(folder);
    return bytes.substr(static_cast<std::size_t>(checkpoint_header_bytes),
                        static_cast<std::size_t>(header.table_offset - checkpoint_header_bytes));
  }

  fs::path folder;
  std::array<std::string, cases.size()> bodies;
};

/// Values that comparisons forget, and sizes that products overflow.
constexpr std::array<std::uint64_t, 10> special = {
    0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
    0xffffffffffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0x4000000000000000, 0x0000000100000000};

void edit(std::string& body, std::span<const std::uint8_t, 8> what) {
  const auto at = static_cast<std::size_t>(what[1] | what[2] << 8 | what[3] << 16) % body.size();
  char* to = body.data() + at;
  const std::size_t left = body.size() - at;
  switch (what[0] % 5) {
    case 0:
      *to = static_cast<char>(*to ^ 1 << what[4] % 8);
      break;
    case 1:
      std::memcpy(to, &what[4], std::min<std::size_t>(left, 1 + what[0] / 5 % 4));
      break;
    case 2: {
      // At a whole number of 8 bytes, as the arrays are.
      char* aligned = body.data() + at / 8 * 8;
      const std::uint64_t value = special[what[4] % special.size()];
      std::memcpy(aligned, &value, std::min<std::size_t>(left, 8));
      break;
    }
    case 3: {
      const std::size_t from = static_cast<std::size_t>(what[4] | what[5] << 8 | what[6] << 16) % body.size();
      const std::size_t size = std::min({left, body.size() - from, std::size_t{1} + what[7]});
      std::memmove(to, body.data() + from, size);
      break;
    }
    default:  // a digit of the JSON text
      for (std::size_t k = 0; k < left; ++k)
        if (to[k] >= '0' && to[k] <= '9') {
          to[k] = "0123456789e-."[what[4] % 13];
          break;
        }
  }
}

/// A file in memory: header and table of checksums around the body, all right.
class Forged {
 public:
  explicit Forged(const std::string& body) : file_(::memfd_create("checkpoint", MFD_CLOEXEC)) {
    const std::array<Segment, 1> segments{
        {{checkpoint_header_bytes, static_cast<Size>(body.size()), hash_bytes(std::span(body.data(), body.size()))}}};
    const auto table = format_segment_table(segments);
    CheckpointHeader header;
    header.version = version();
    header.step = 4;
    header.table_offset = checkpoint_header_bytes + static_cast<Size>(body.size());
    header.segments = 1;
    header.file_bytes = header.table_offset + static_cast<Size>(table.size());
    header.table_hash = hash_bytes(table);
    const auto first = format_checkpoint_header(header);
    write({first.data(), first.size()});
    write(body);
    write({table.data(), table.size()});
  }
  ~Forged() { ::close(file_); }
  Forged(const Forged&) = delete;
  Forged& operator=(const Forged&) = delete;
  fs::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  void write(std::string_view bytes) const {
    fuzz::check(::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "a short file");
  }
  int file_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_log(LogLevel::quiet, false);
  static const Runs runs;
  if (size == 0) return 0;
  const std::size_t m = data[0] % cases.size();
  std::string body = runs.bodies[m];
  constexpr std::size_t most = 64;  // edits; more only make it slower
  for (std::size_t k = 0; k < most && 1 + 8 * (k + 1) <= size; ++k)
    edit(body, std::span<const std::uint8_t, 8>(data + 1 + 8 * k, 8));
  const Forged forged(body);
  const bool whole = fuzz::accepts({ErrorKind::input, ErrorKind::numerical}, [&] {
    const Comm comm;
    const Restart restart = open_restart(comm, forged.path(), false);
    const Case now = runs.read_case(m, comm);
    if (restart.state.model != now.text("model")) fail(ErrorKind::input, "the checkpoint is of another model");
    const Case before = parse_case(restart.state.case_toml, "checkpoint", schema_of(kinds(), restart.state.model), {});
    check_same_case(now, before, "checkpoint");
    runs.run(m, &restart,
             restart.state.devices == std::vector<std::string>{"cpu"} ? restart.reader.owners()
                                                                      : std::vector<std::int32_t>{});
  });
  fuzz::check(whole || body != runs.bodies[m], "a good checkpoint is refused");
  return 0;
}
