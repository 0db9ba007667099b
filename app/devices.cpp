// tutti devices: what this machine has, how fast its memory is, and how fast it is at a model.
#include <optional>

#include "app/commands.hpp"
#include "app/device_rates.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"

namespace tutti::app {
namespace {

/// measure: how, where it is asked for.
void list_devices(const Comm& comm, const DeviceArguments& arguments, const std::optional<MeasureLimits>& measure) {
  DeviceSet set = arguments.open(comm);
  std::string lines;
  for (const auto& device : set.devices) {
    lines += fmt::format("{:<10} {}, memory {}\n", device->name(), device->description(),
                         format_bytes(static_cast<double>(device->budget().capacity())));
    if (!measure) continue;
    const Bandwidth b = measure_bandwidth(*device, *measure);
    lines += fmt::format("           STREAM triad {:.1f} GB/s", b.triad * 1e-9);
    if (!device->is_host())
      lines += fmt::format(
          ", host to device {:.1f} GB/s, device to host {:.1f} GB/s, small copy {:.1f} us, launch {:.1f} us",
          b.copy_to_device * 1e-9, b.copy_to_host * 1e-9, b.latency_us, b.launch_us);
    lines += "\n";
  }
  const auto texts = comm.all_gather_text(lines);
  if (!comm.is_root()) return;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    if (texts.size() > 1) std::fputs(fmt::format("rank {}\n", r).c_str(), stdout);
    std::fputs(texts[r].c_str(), stdout);
  }
}

}  // namespace

void add_devices(CLI::App& program, Action& action) {
  auto arguments = std::make_shared<DeviceArguments>();
  auto measure = std::make_shared<bool>(false);
  struct RateArguments {
    std::string model, file, json;
    std::vector<std::string> sets;
    double seconds = 1;
  };
  auto rates = std::make_shared<RateArguments>();
  CLI::App* command = program.add_subcommand("devices", "list the devices of this machine");
  arguments->add_to(*command);
  command->add_flag("--measure", *measure, "measure STREAM triad, copies and latency");
  command
      ->add_option("--seconds", rates->seconds,
                   "seconds of a measurement, at most 1; with less than 0.1, its arrays are smaller, too")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  CLI::Option* model = command->add_option("--model", rates->model,
                                           "time this model's kernel on each device and print the shares r_peak, "
                                           "r_stream and r_opt (Langguth 2015, Table 1)");
  model->type_name("NAME");
  CLI::Option* file =
      command->add_option("case", rates->file, "case file (TOML), or a folder with a case.toml; with --model");
  file->type_name("CASE")->needs(model);
  model->needs(file);
  command->add_option("--set", rates->sets, "change a key of the case; may be repeated")
      ->type_name("A.B=V")
      ->allow_extra_args(false)
      ->needs(model);
  command->add_option("--json", rates->json, "write the figures of --model to this file")
      ->type_name("FILE")
      ->needs(model);
  command->footer(
      "Examples:\n  tutti devices --measure\n  tutti devices --devices fake:2,cpu\n  tutti devices --model " +
      models().front().name + " examples/heart/case.toml --devices cuda:0,cpu");
  command->callback([=, &action] {
    action = [=](const Comm& comm) {
      const auto limits = MeasureLimits::within(rates->seconds);
      if (rates->model.empty())
        list_devices(comm, *arguments, *measure ? std::optional(limits) : std::nullopt);
      else
        list_rates(comm, *arguments, rates->model, rates->file, rates->sets, rates->json, limits);
    };
  });
}

}  // namespace tutti::app
