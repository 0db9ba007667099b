// What crosses between host and devices in steps whose source and boundary data change in time: nothing but separators.
#include <gtest/gtest.h>

#include <filesystem>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/domain/phases.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/diffusion/diffusion.hpp"

namespace tutti::diffusion {
namespace {

struct Moved {
  Size to_device = 0, to_host = 0, peer = 0, copies = 0;
  friend bool operator==(const Moved&, const Moved&) = default;
};

/// What all devices of this rank moved in ten steps, and between them in each.
Moved moved_in_steps(const Comm& comm, const std::string& list, const std::string& method, bool forced) {
  CaseSchema schema = core_schema({"diffusion"});
  add_diffusion_keys(schema);
  const std::string forcing =
      forced ? "source = \"sin(x+t)*exp(-y*t)\"\n[[boundary]]\ntag = \"x-max\"\ntype = "
               "\"dirichlet\"\nvalue = \"1+y*t\"\n[[boundary]]\ntag = \"y-min\"\nvalue = \"cos(9*t)\"\n"
             : "[[boundary]]\ntag = \"x-max\"\ntype = \"dirichlet\"\n";
  const Case options = parse_case(
      "model = \"diffusion\"\n[mesh]\ngenerate = \"box\"\ncubes = [6, 6, 6]\n[balance]\nweights "
      "= \"equal\"\n[time]\nsteps = 10\nmethod = \"" +
          method + "\"\n[physics]\nK = 1\ninitial = \"x\"\n" + forcing,
      "forcing.toml", schema);
  DeviceOptions device_options;
  device_options.threads = 1;
  DeviceSet devices = open_devices(list, comm, device_options);
  Phases phases;
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  Diffusion model({comm, devices, options, folder, phases});
  const auto count = [&] {
    Moved sum;
    for (const auto& device : devices.devices) {
      if (device->is_host()) continue;
      sum.to_device += device->counts().to_device_bytes;
      sum.to_host += device->counts().to_host_bytes;
      sum.peer += device->counts().peer_bytes;
      sum.copies += device->counts().copies;
    }
    return sum;
  };
  model.wait();
  const Moved before = count();
  for (int k = 0; k < 10; ++k) model.step(k * model.time_step(), model.time_step());
  model.schedules().front()->wait();  // not the model: it looks at its errors
  const Moved after = count();
  return {after.to_device - before.to_device, after.to_host - before.to_host, after.peer - before.peer,
          after.copies - before.copies};
}

TEST(Forcing, nothing_but_separators_crosses_in_a_step) {
  const Comm comm(MPI_COMM_WORLD);
  for (const char* method : {"euler", "rkc2"}) {
    for (const char* devices : {"fake:1", "fake:2", "fake:2,cpu"}) {
      const Moved with = moved_in_steps(comm, devices, method, true),
                  without = moved_in_steps(comm, devices, method, false);
      EXPECT_EQ(with, without) << devices << ", " << method;
      if (comm.size() > 1) continue;
      const std::string list = devices;
      if (list != "fake:2,cpu") {
        EXPECT_EQ(with.to_device + with.to_host, 0) << devices << ", " << method;
      }
      if (list != "fake:1") {
        EXPECT_GT(with.copies + with.peer, 0);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::diffusion
