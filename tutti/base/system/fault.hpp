// Failing on purpose, at a named place of a named rank: how tests see what one rank's failure does to the others.
#pragma once

#include <string>

namespace tutti {

/// Arms one fault: "PHASE@RANK", or "PHASE@RANK:N" for the N-th time (from 1) that this rank comes to the phase. The
/// program takes it from the environment variable TUTTI_FAULT. Empty: none. Error(usage): not of that form.
void arm_fault(const std::string& fault, int rank);

/// Throws Error(resource) where and when the armed fault says; else does nothing. Phases are those of the set-up (as
/// `tutti run -v` names them), step, report, output, probe, checkpoint, and checkpoint-write in the thread that writes.
void fault_point(const std::string& phase);

}  // namespace tutti
