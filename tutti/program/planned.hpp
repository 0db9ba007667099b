// What `tutti plan` asks of a model, and is told before anything is allocated.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/domain/domain.hpp"
#include "tutti/domain/held_arrays.hpp"

namespace tutti {

/// An array that a model would put on a device.
struct PlannedArray {
  std::string name;
  Size bytes = 0;
};

/// The time step of a case, and what a step is.
struct PlannedStep {
  double dt = 0;
  std::string about = {};               ///< of dt: "spectral radius 3, 10 stages"
  std::string rows = {};                ///< "nodes with stencils of 31"; empty: as the domain calls them
  int stages = 1;                       ///< each with an exchange
  bool solves = false;                  ///< what is planned is an iteration, of which a step takes some
  std::vector<std::string> lines = {};  ///< for people
  bool bytes_between_parts = false;     ///< PlannedPart::message_bytes are those to parts of the same rank, too
};

/// A part of this rank.
struct PlannedPart {
  std::vector<PlannedArray> arrays;
  Gid ghosts = 0;
  Size bytes_a_step = 0;      ///< that a step must move in its device's memory
  double seconds_a_step = 0;  ///< of a step besides: what the device computes longer than it moves bytes
  Size messages = 0;          ///< a step, to other ranks
  Size message_bytes = 0;     ///< a step
  std::string about = {};     ///< for people
  bool keeps_apart = false;   ///< a memory policy says where large arrays are
  Size copied_a_step = 0;     ///< of such arrays, bytes that come from the host
  bool copies_behind = true;  ///< while kernels work

  Size bytes() const;  ///< of all arrays
};

/// An array of a part that a memory policy keeps: adds it to arrays, and what `passes` a step copy.
void add_held(PlannedPart& part, const std::string& name, const HeldPlan& held, int passes);

/// One pass of the kernel that Sharing::rate times.
struct PlannedPass {
  std::string name;                ///< "a stage of rkc2"
  Size sent = 8;                   ///< bytes of a row that another part reads
  double bytes = 0, flops = 0;     ///< of a row, by `source`; 0: no bound by the memory's speed is known
  std::string source = {};         ///< of them: "Langguth 2015, eq. 3"
  std::string not_projected = {};  ///< why its exchange is none of surfaces; empty: it is one
};

/// What the domain's rows with so many values each take and send in `times` exchanges a step: adds to parts.
void plan_exchanges(const Comm& comm, const Domain& domain, int values, int times, std::vector<PlannedPart>& parts);

}  // namespace tutti
