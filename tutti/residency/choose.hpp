// The policy "auto": the fastest way to hold an array that fits, timed on the kernel that reads it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/residency/residency.hpp"

namespace tutti {

/// One way to hold the array, and what came of it.
struct Trial {
  Policy policy = Policy::resident;
  RowLayout layout;
  Size device_bytes = 0;
  double loss = 0;
  double seconds = -1;       ///< of a pass; negative: it was not timed
  std::string why_not;       ///< then the reason: it does not fit, or loses too much
  std::string name() const;  ///< "resident", "compressed int32", "streamed", "streamed zfp-32"
};

struct Choice {
  std::unique_ptr<Residency> residency;
  std::vector<Trial> trials;
  std::size_t best = 0;  ///< of the trials
};

/// The candidates in the order of their trials, for an array in `room` bytes. Of doubles: resident where they fit, else
/// streamed, overlaid and managed. If options.tolerance allows losses, each other format, too: compressed where it
/// fits, else streamed.
std::vector<Trial> candidates_of(const ResidencyOptions& options, Lid rows, int width, Size room);

/// Sets up one candidate after the other, with `seconds`, which returns the time of a pass, and keeps the fastest; of
/// equal ones, the first. One that does not fit is left out. Error(resource), with the reasons, where none fits; other
/// errors end it. Lossy formats may win in one run and lose in the next: results of "auto" have the same bits each time
/// only with a tolerance of 0.
Choice choose_residency(Stream& stream, const RowSource& source, const ResidencyOptions& options,
                        const std::function<double(Residency&)>& seconds);

/// Seconds of a pass over the array: the best of several calls of `pass`, each waited for, of `least_seconds` together
/// and two at least, after one that is not counted.
double seconds_of_pass(Residency& residency, const std::function<void()>& pass, double least_seconds = 0.1);

/// The array by options.policy; "auto" chooses with `pass`, which launches what the run will launch in a pass.
Choice make_residency(Stream& stream, const RowSource& source, const ResidencyOptions& options,
                      const std::function<void(Residency&)>& pass);

}  // namespace tutti
