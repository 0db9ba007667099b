// tutti doctor: what of this machine works, and what to install or set where something does not.
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/commands.hpp"
#include "app/python.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/base/system/program.hpp"
#include "tutti/base/units.hpp"
#include "tutti/base/version.hpp"
#include "tutti/device/cuda_report.hpp"
#include "tutti/device/host/host_load.hpp"
#include "tutti/exchange/routing.hpp"
#include "tutti/io/checkpoint/checkpoint_file.hpp"

namespace tutti::app {
namespace {

using Clock = std::chrono::steady_clock;

/// ok: works. warning: runs work, but slower than they could, or something optional is not there. missing: runs do not
/// work.
enum class Health { ok, warning, missing };

struct Finding {
  Health health = Health::ok;
  std::string what;    ///< "MPI launch"
  std::string found;   ///< what there is
  std::string advice;  ///< what to install or set; empty when all is well
};

const char* word_of(Health health) {
  return health == Health::ok ? "ok" : health == Health::warning ? "warning" : "missing";
}

struct DoctorArguments {
  int threads = 0;
  bool json = false, pair = false;
};

// ---- MPI

std::string first_part(const char* text, const char* ends) {
  const std::string all(text);
  return all.substr(0, all.find_first_of(ends));
}

/// What Open MPI or MPICH has loaded to move messages. Open MPI opens the components it has chosen as shared libraries
/// and closes the others.
std::string loaded_components(const std::string& library) {
  const auto device = library.find("MPICH Device:");
  if (device != std::string::npos) {
    std::istringstream words(library.substr(device + 13));
    std::string word;
    words >> word;
    return word;
  }
  constexpr std::array<std::array<const char*, 2>, 6> known = {{{"mca_pml_ucx", "UCX"},
                                                                {"mca_mtl_ofi", "libfabric"},
                                                                {"mca_mtl_psm2", "PSM2"},
                                                                {"mca_btl_vader", "shared memory (vader)"},
                                                                {"mca_btl_sm.", "shared memory (sm)"},
                                                                {"mca_btl_tcp", "TCP"}}};
  std::ifstream maps("/proc/self/maps");
  std::stringstream text;
  text << maps.rdbuf();
  std::string found;
  for (const auto& [file, name] : known)
    if (text.str().find(file) != std::string::npos &&
        (name != std::string("shared memory (sm)") || found.find("vader") == std::string::npos))
      found += (found.empty() ? "" : ", ") + std::string(name);
  return found;
}

struct Talk {
  bool whole = true;            ///< every message came as it was sent
  double microseconds = 0;      ///< one small message, one way
  double bytes_per_second = 0;  ///< one large message, one way
};

/// Every rank sends a megabyte to the next one and looks at what comes from the one before; ranks 0 and 1 are timed.
Talk let_ranks_talk(const Comm& comm) {
  Talk talk;
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  const auto filled = [](int rank) {
    std::vector<int> data(std::size_t{1} << 18);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = rank + static_cast<int>(i);
    return data;
  };
  const std::vector<int> mine = filled(comm.rank());
  std::vector<int> theirs(mine.size());
  MPI_Sendrecv(mine.data(), static_cast<int>(mine.size()), MPI_INT, next, 1, theirs.data(),
               static_cast<int>(theirs.size()), MPI_INT, before, 1, comm.handle(), MPI_STATUS_IGNORE);
  talk.whole = comm.sum(theirs == filled(before) ? 0 : 1) == 0;
  const auto one_way = [&](int count, int rounds) {
    comm.barrier();
    const auto start = Clock::now();
    for (int i = 0; i < rounds && comm.rank() < 2; ++i) {
      if (comm.rank() == 0) MPI_Send(mine.data(), count, MPI_INT, 1, 2, comm.handle());
      MPI_Recv(theirs.data(), count, MPI_INT, 1 - comm.rank(), 2, comm.handle(), MPI_STATUS_IGNORE);
      if (comm.rank() == 1) MPI_Send(mine.data(), count, MPI_INT, 0, 2, comm.handle());
    }
    return std::chrono::duration<double>(Clock::now() - start).count() / (2 * rounds);
  };
  talk.microseconds = one_way(2, 50) * 1e6;
  const double large = one_way(static_cast<int>(mine.size()), 10);
  talk.bytes_per_second = static_cast<double>(mine.size() * sizeof(int)) / large;
  return talk;
}

/// A program that cannot even be started has failed, too.
ProgramResult run_or_fail(const std::vector<std::string>& words, double timeout) {
  try {
    ProgramOptions options;
    options.timeout = timeout;
    return run_program(words, options);
  } catch (const Error& error) {
    return {127, false, error.what()};
  }
}

std::string as_root_advice(bool open_mpi) {
  const bool allowed =
      std::getenv("OMPI_ALLOW_RUN_AS_ROOT") != nullptr && std::getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") != nullptr;
  if (!open_mpi || ::geteuid() != 0 || allowed) return "";
  return "as root, mpirun wants --allow-run-as-root, or OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
}

/// Without a launcher: starts two ranks of this program as a user would, and reads what they say.
Finding try_launcher(bool open_mpi) {
  Finding f{Health::ok, "MPI launch", "", ""};
  const auto mpirun = find_program("mpirun");
  if (mpirun.empty())
    return {Health::warning, f.what, "no mpirun on PATH: one rank only",
            open_mpi ? "install openmpi-bin (Debian) or load the MPI module" : "put the mpirun of your MPI on PATH"};
  std::vector<std::string> words = {mpirun.string()};
  if (open_mpi) {
    words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
    if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  }
  words.insert(words.end(), {"-np", "2", own_program().string(), "doctor", "--pair"});
  const ProgramResult result = run_or_fail(words, 30);
  const auto said = result.output.find("pair: ");
  if (result.status == 0 && said != std::string::npos) {
    f.found = "mpirun starts two ranks: " + first_part(result.output.c_str() + said + 6, "\n");
    f.advice = as_root_advice(open_mpi);
    if (!f.advice.empty()) f.health = Health::warning;
    return f;
  }
  f.health = Health::warning;
  f.found = result.timed_out ? fmt::format("two ranks of {} did not end in 30 s", mpirun.string())
                             : fmt::format("two ranks of {} end with code {}", mpirun.string(), result.status);
  f.advice = "check that it is the mpirun of the MPI that tutti was built with; try: mpirun -np 2 tutti doctor";
  return f;
}

void check_mpi(const Comm& comm, std::vector<Finding>& findings) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const std::string library(version.data());
  const bool open_mpi = library.find("Open MPI") != std::string::npos;
  findings.push_back({Health::ok, "MPI", first_part(version.data(), ",\n"), ""});
  if (comm.size() == 1) {
    if (is_launched())
      findings.push_back({Health::ok, "MPI launch", "one rank, started by a launcher", ""});
    else if (comm.is_root())
      findings.push_back(try_launcher(open_mpi));
    return;
  }
  const Talk talk = let_ranks_talk(comm);
  const std::string by = loaded_components(library);
  Finding f{talk.whole ? Health::ok : Health::missing, "MPI launch",
            fmt::format("{} ranks communicate{}: {:.1f} us, {:.1f} GB/s between ranks 0 and 1", comm.size(),
                        by.empty() ? "" : " (loaded: " + by + ")", talk.microseconds, talk.bytes_per_second * 1e-9),
            ""};
  if (!talk.whole) {
    f.found = "a message between the ranks arrived damaged";
    f.advice = "try another transport, e.g. mpirun --mca btl self,tcp";
  }
  findings.push_back(f);
}

// ---- the machine

void check_threads(const Comm& comm, int threads_wanted, std::vector<Finding>& findings) {
  // The team that a run would get.
  DeviceOptions options;
  options.look_at_load = true;
  options.threads = threads_wanted;
  const DeviceSet set = open_devices("cpu", comm, options);
  const int threads = set.threads->count();
  const HostLoad load = host_load(comm, threads);
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  Finding f{
      Health::ok, "threads",
      fmt::format(
          "{} of {} cores ({}), {} rank{} of this host, {} thread{} in rank 0, {}", load.cores, online,
          format_cores(allowed_cores()), load.ranks, load.ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
          set.threads->cores().empty() ? std::string("not pinned") : "pinned to " + format_cores(set.threads->cores())),
      ""};
  if (load.full()) {
    f.health = Health::warning;
    f.advice = describe_full_cores(load, waits_passively());
  } else if (static_cast<long>(allowed_cores().size()) < online && is_launched()) {
    f.health = Health::warning;
    f.advice = "start mpirun with --bind-to none to use all cores";
  }
  findings.push_back(f);
}

void check_cuda(std::vector<Finding>& findings) {
  const CudaReport cuda = report_cuda();
  Finding f{Health::ok, "CUDA", "", ""};
  if (!cuda.built) {
    f.found = "built without";
    if (!cuda.driver.empty()) {
      f.health = Health::warning;
      f.found += fmt::format(", but this host has an NVIDIA driver ({})", cuda.driver);
      f.advice = "to use its GPUs, build tutti where nvcc is found";
    }
  } else if (!cuda.problem.empty()) {
    f.health = Health::warning;
    f.found = fmt::format("built with {}, no GPU can be used: {}", cuda.runtime, cuda.problem);
    f.advice = cuda.driver.empty() ? "if this host has one, install the NVIDIA driver"
                                   : fmt::format("the driver is {}; is it new enough?", cuda.driver);
  } else {
    f.found = fmt::format("built with {}, driver {}, {} GPU{}", cuda.runtime, cuda.driver, cuda.devices.size(),
                          cuda.devices.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < cuda.devices.size(); ++i) f.found += fmt::format("; cuda:{} {}", i, cuda.devices[i]);
    const auto pairs = static_cast<int>(cuda.devices.size() * (cuda.devices.size() - 1));
    if (pairs > 0) f.found += fmt::format("; peer access in {} of {} directions", cuda.peers, pairs);
  }
  findings.push_back(f);
}

void check_links(std::vector<Finding>& findings) {
  findings.push_back({Health::ok, "GPU links", describe_routings(), ""});
}

void check_memory(std::vector<Finding>& findings) {
  const MachineLimits limits = read_machine_limits();
  const auto total = static_cast<double>(limits.memory), available = static_cast<double>(limits.available);
  Finding f{Health::ok, "memory", "", ""};
  f.found = fmt::format("{} available of {}, about {} million cells", format_bytes(available), format_bytes(total),
                        static_cast<int>(available / 620e6));
  if (available < 256e6) {
    f.health = Health::warning;
    f.advice = "stop other programs, or run on more nodes";
  }
  findings.push_back(f);
}

void check_disk(std::vector<Finding>& findings) {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  Finding f{Health::ok, "disk", "", ""};
  if (error || ::access(here.c_str(), W_OK) != 0) {
    findings.push_back({Health::warning, f.what, fmt::format("{}: this folder is not writable", here.string()),
                        "give a folder elsewhere with -o"});
    return;
  }
  struct statvfs disk = {};
  if (::statvfs(here.c_str(), &disk) != 0) return;
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  f.found = fmt::format("{} free in {}", format_bytes(free), here.string());
  if (free < 1e9) {
    f.health = Health::warning;
    f.advice = "fields and checkpoints of large meshes may not fit; give a folder elsewhere with -o";
  }
  findings.push_back(f);
}

// ---- other libraries and programs

void check_hdf5(std::vector<Finding>& findings) {
  findings.push_back({Health::ok, "HDF5", fmt::format("{}, for checkpoints", hdf5_version()), ""});
}

void check_gmsh(std::vector<Finding>& findings) {
  const auto gmsh = find_program("gmsh");
  if (gmsh.empty()) {
    findings.push_back({Health::warning, "gmsh", "not on PATH: no biventricle or unstructured-box meshes",
                        "install it (Debian: apt install gmsh); reading .msh files does not need it"});
    return;
  }
  const ProgramResult answer = run_or_fail({gmsh.string(), "--version"}, 30);
  const std::string version = first_part(answer.output.c_str(), "\n");
  if (answer.status == 0)
    findings.push_back({Health::ok, "gmsh", fmt::format("{} ({})", version, gmsh.string()), ""});
  else
    findings.push_back({Health::warning, "gmsh",
                        fmt::format("{} ends with code {}: {}", gmsh.string(), answer.status, version),
                        "install it again"});
}

void check_python(std::vector<Finding>& findings) {
  const PythonPackage python = find_python();
  Finding f{Health::ok, "plots", "", ""};
  if (!python.problem.empty()) {
    findings.push_back({Health::warning, f.what, "tutti plot does not work", python.problem});
    return;
  }
  f.found = fmt::format("{} {} with numpy and matplotlib{}; package {}", python.interpreter, python.version,
                        python.has_vtk ? ", vtk" : "",
                        python.folder.empty() ? std::string("installed in it") : python.folder.string());
  findings.push_back(f);
}

// ---- the whole

nlohmann::json as_json(const std::vector<Finding>& findings, int ranks) {
  nlohmann::json all;
  all["version"] = version();
  all["ranks"] = ranks;
  all["checks"] = nlohmann::json::array();
  for (const Finding& f : findings)
    all["checks"].push_back(
        {{"check", f.what}, {"state", word_of(f.health)}, {"found", f.found}, {"advice", f.advice}});
  return all;
}

void examine(const Comm& comm, const DoctorArguments& a) {
  std::vector<Finding> findings;
  check_mpi(comm, findings);
  if (a.pair) {  // the two ranks that try_launcher starts
    comm.together([&] {
      if (comm.size() == 1)
        fail(ErrorKind::peer, "the ranks do not see each other; start them with the mpirun of tutti's MPI");
      if (findings.back().health != Health::ok)
        fail(ErrorKind::peer, "{}; {}", findings.back().found, findings.back().advice);
    });
    if (comm.is_root()) std::printf("pair: %s\n", findings.back().found.c_str());
    return;
  }
  check_threads(comm, a.threads, findings);
  int missing = 0;
  comm.together([&] {
    if (!comm.is_root()) return;
    check_memory(findings);
    check_disk(findings);
    check_cuda(findings);
    check_links(findings);
    check_hdf5(findings);
    check_gmsh(findings);
    check_python(findings);
    for (const Finding& f : findings) missing += f.health == Health::missing ? 1 : 0;
    if (a.json) {
      std::printf("%s\n", as_json(findings, comm.size()).dump(2).c_str());
    } else {
      for (const Finding& f : findings) {
        if (f.health == Health::ok && log_level() == LogLevel::quiet) continue;
        std::printf("%s\n", fmt::format("{:<8} {:<11} {}{}{}", word_of(f.health), f.what, f.found,
                                        f.advice.empty() ? "" : " -- ", f.advice)
                                .c_str());
      }
    }
    std::fflush(stdout);
    if (missing > 0) fail(ErrorKind::resource, "{} things that tutti needs do not work; see the lines above", missing);
  });
}

}  // namespace

void add_doctor(CLI::App& program, Action& action) {
  auto a = std::make_shared<DoctorArguments>();
  CLI::App* command = program.add_subcommand("doctor", "check what works on this machine, and what to install or set");
  command->add_option("--threads", a->threads, "CPU threads per rank (default: the free cores of its share)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command->add_flag("--json", a->json, "print the findings as JSON");
  command->add_flag("--pair", a->pair)->group("");  // for the doctor itself
  command->footer(
      "Examples:\n  tutti doctor\n  mpirun -np 4 tutti doctor --json\n\nok: works. warning: runs work, but more slowly "
      "than they could, or something optional is missing.\nmissing: runs do not work; the exit code is 3.");
  command->callback([a, &action] { action = [a](const Comm& comm) { examine(comm, *a); }; });
}

}  // namespace tutti::app
