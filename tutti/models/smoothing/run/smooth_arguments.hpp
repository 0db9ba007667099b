// What `tutti mesh smooth` was asked for, on the command line or in a case file.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/models/smoothing/smoother.hpp"
#include "tutti/program/device_arguments.hpp"

namespace tutti::smoothing {

struct SmoothArguments {
  std::string input, output, format, json;
  std::string energy = "shape", method = "newton", sweeps = "gauss-seidel", derivatives = "double", boundary = "slide",
              partitioner = "hilbert";
  std::vector<double> weights;
  SmoothOptions options;
  DeviceArguments devices;
};

/// The keys of a case of `tutti mesh smooth`.
CaseSchema smooth_schema();

/// With what the case file `a.input` says where `command` has no such option: the mesh, too. Files are relative to the
/// case, as its keys of files are. Collective. Errors: io, input (not such a case), usage (no output given).
void read_smooth_case(const Comm& comm, const CLI::App& command, SmoothArguments& a);

}  // namespace tutti::smoothing
