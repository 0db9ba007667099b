#include "app/device_rates.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/program/temporary_folder.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::app {
namespace {

/// One device. What is measured travels to all ranks, the shares are theirs.
struct DeviceFigures {
  int rank = 0;
  char name[32] = "";
  double peak = 0, triad = 0;  ///< bytes/s
  bool knows_peak = true;      ///< else `peak` is the triad
  bool accelerator = false;
  double rate = 0;  ///< rows of the kernel a second
  double r_peak = 0, r_stream = 0, r_opt = 0;
  double of_bound(const PlannedPass& pass) const { return rate * pass.bytes / triad; }
  double gflops(const PlannedPass& pass) const { return rate * pass.flops * 1e-9; }
};

std::vector<DeviceFigures> measure_triads(const Comm& comm, const DeviceSet& devices, const MeasureLimits& limits) {
  std::vector<DeviceFigures> mine;
  comm.barrier();  // memory is shared: all are timed at the same time
  comm.together([&] {
    for (const auto& device : devices.devices) {
      DeviceFigures& f = mine.emplace_back();
      f.rank = comm.rank();
      std::snprintf(f.name, sizeof(f.name), "%s", device->name().c_str());
      f.accelerator = !device->is_host();
      f.triad = device->is_host() ? measure_triad(*devices.threads, limits) : measure_triad(*device, limits);
    }
  });
  return comm.all_gather(std::span<const DeviceFigures>(mine));
}

/// Sets `share` of every device in proportion to its `speed`.
void share_out(std::vector<DeviceFigures>& all, double DeviceFigures::*speed, double DeviceFigures::*share) {
  double sum = 0;
  for (const DeviceFigures& f : all) sum += f.*speed;
  for (DeviceFigures& f : all) f.*share = f.*speed / sum;
}

/// The paper's r: what all accelerators get together.
double of_accelerators(const std::vector<DeviceFigures>& all, double DeviceFigures::*share) {
  double r = 0;
  for (const DeviceFigures& f : all)
    if (f.accelerator) r += f.*share;
  return r;
}

/// A pass of unknown bytes has no bound.
void print_table(const std::vector<DeviceFigures>& all, const char* rows, const PlannedPass& pass) {
  const bool bound = pass.bytes > 0;
  info("{:>4} {:<10} {:>10} {:>11} {:>12} {}{:>8} {:>8} {:>8}", "rank", "device", "peak GB/s", "triad GB/s",
       fmt::format("M {}/s", rows), bound ? fmt::format("{:>7} {:>9} ", "of P", "GFLOPS") : "", "r_peak", "r_stream",
       "r_opt");
  for (const DeviceFigures& f : all)
    info("{:>4} {:<10} {:>10} {:>11.1f} {:>12.1f} {}{:>8.4f} {:>8.4f} {:>8.4f}", f.rank, f.name,
         f.knows_peak ? fmt::format("{:.1f}", f.peak * 1e-9) : "unknown", f.triad * 1e-9, f.rate * 1e-6,
         bound ? fmt::format("{:>7.3f} {:>9.2f} ", f.of_bound(pass), f.gflops(pass)) : "", f.r_peak, f.r_stream,
         f.r_opt);
  info("{}r: a device's share of the {} by peak, triad or kernel",
       bound ? fmt::format("P = {:g}/{:g} x triad ({}); ", pass.flops, pass.bytes, pass.source) : "", rows);
  if (std::any_of(all.begin(), all.end(), [](const DeviceFigures& f) { return !f.knows_peak; }))
    info("peak unknown: the measured triad is taken instead; devices.peak_gb_per_second gives it");
  info("all accelerators together: r_peak {:.4f}, r_stream {:.4f}, r_opt {:.4f}",
       of_accelerators(all, &DeviceFigures::r_peak), of_accelerators(all, &DeviceFigures::r_stream),
       of_accelerators(all, &DeviceFigures::r_opt));
}

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<DeviceFigures>& all, const PlannedPass& pass) {
  Json list = Json::array();
  for (const DeviceFigures& f : all) {
    Json& one = list.emplace_back(Json{{"rank", f.rank},
                                       {"device", f.name},
                                       {"accelerator", f.accelerator},
                                       {"peak_gb_per_second", f.knows_peak ? Json(f.peak * 1e-9) : Json(nullptr)},
                                       {"triad_gb_per_second", f.triad * 1e-9},
                                       {"cells_per_second", f.rate}});
    if (pass.bytes > 0) one.update({{"fraction_of_P", f.of_bound(pass)}, {"gflops", f.gflops(pass)}});
    one.update({{"r_peak", f.r_peak}, {"r_stream", f.r_stream}, {"r_opt", f.r_opt}});
  }
  return list;
}

}  // namespace

void list_rates(const Comm& comm, const DeviceArguments& arguments, const std::string& model,
                const std::string& case_file, const std::vector<std::string>& sets, const std::string& json,
                const MeasureLimits& limits) {
  const Case options = load_case(comm, case_file, sets);
  const ModelKind& kind = kind_of(options, models());
  comm.together([&] {
    const auto names = model_names(models());
    if (std::find(names.begin(), names.end(), model) == names.end())
      fail(ErrorKind::usage, "unknown model '{}' in --model; choose one of {}", model, fmt::join(names, ", "));
    if (kind.name != model)
      fail(ErrorKind::usage, "--model {}: {} is a case of the model {}; give one of {}", model, case_file, kind.name,
           model);
    if (!kind.sharing)
      fail(ErrorKind::usage, "--model {}: this model has no kernel that can be timed alone; choose another", model);
  });
  DeviceSet devices = arguments.open(comm, options);
  const TemporaryFolder work_dir(comm);
  Phases phases;
  std::unique_ptr<Domain> domain;
  Sharing sharing;
  PlannedPass pass;
  comm.together([&] {
    domain = kind.rows(options);
    sharing = kind.sharing(options, *devices.threads);
    pass = kind.plan_pass(options);
  });
  domain->load({comm, devices, options, work_dir.path(), phases});
  const Gid cells = domain->rows;
  const char* const rows = domain->words().rows;
  domain.reset();

  auto all = measure_triads(comm, devices, limits);
  const auto rates = measure_parts(comm, devices, cells, sharing.rate,
                                   PassExchanges{parse_routing(options.text("devices.transport")), sharing.exchanges});
  const auto peaks = peak_bandwidths(comm, devices, options, static_cast<int>(all.size()));
  for (std::size_t p = 0; p < all.size(); ++p) {
    all[p].knows_peak = peaks[p] > 0;
    all[p].peak = all[p].knows_peak ? peaks[p] : all[p].triad;
    all[p].rate = rates[p].rate;
  }
  share_out(all, &DeviceFigures::peak, &DeviceFigures::r_peak);
  share_out(all, &DeviceFigures::triad, &DeviceFigures::r_stream);
  share_out(all, &DeviceFigures::rate, &DeviceFigures::r_opt);

  info("{}: {} {}; the kernel alone, timed on each device", case_file, format_count(cells), rows);
  print_table(all, rows, pass);
  Json report = {{"case", case_file}, {"model", model}, {"cells", cells}, {"devices", json_of(all, pass)}};
  report["accelerators"] = {{"r_peak", of_accelerators(all, &DeviceFigures::r_peak)},
                            {"r_stream", of_accelerators(all, &DeviceFigures::r_stream)},
                            {"r_opt", of_accelerators(all, &DeviceFigures::r_opt)}};
  const Weights weights = weigh_rates(rates, cells);
  if (const auto& one = weights.one_gpu) {
    info("weights = \"measured\": {}", describe(*one));
    report["one_gpu"] = {{"device", all[one->part].name},
                         {"seconds_a_pass", one->seconds},
                         {"seconds_a_pass_together", one->seconds_together}};
  }
  if (const auto& share = weights.share) {
    info("weights = \"measured\": {}", describe(*share, cells));
    report["measured"] = {{"cpu_cells", share->host_rows},
                          {"in_cache", share->in_cache},
                          {"seconds_a_step", share->seconds},
                          {"seconds_a_step_without_cpu", share->seconds_without},
                          {"seconds_a_step_with_cpu", share->seconds_with}};
  }
  comm.together([&] {
    if (comm.is_root() && !json.empty()) write_report(json, report.dump(2) + "\n");
  });
}

}  // namespace tutti::app
