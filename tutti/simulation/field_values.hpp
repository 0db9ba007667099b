// Values of fields: at points, in checkpoints, and in a number that tells two runs apart.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/domain/domain.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/simulation/model_field.hpp"

namespace tutti {

/// All values of a field in part p of this rank: [owned row][component].
std::vector<double> values_of(const Domain& domain, const ModelField& field, std::size_t p);

/// What probes call the quantities of the fields that they read, in order.
std::vector<std::string> probed_names(std::span<const ModelField> fields);
/// These quantities at `places`, probe after probe, on all ranks; each of `probes` has one place on one rank, or those
/// of interpolated_rows, whose weighted values are added up in order. Collective.
std::vector<double> probed_values(const Comm& comm, std::span<const ModelField> fields,
                                  std::span<const RowPlace> places, std::size_t probes);

/// The rows of points, those that contain them or those that they are interpolated from. Errors as Domain::locate.
std::vector<RowPlace> sampled_rows(const Comm& comm, const Domain& domain, std::span<const Vec3> points,
                                   std::span<const std::string> labels, bool interpolated);

/// The same for every split, and another one when two rows change places or a field has other values. Collective.
std::uint64_t checksum_of(const Comm& comm, const Domain& domain, std::span<const ModelField> fields);

/// What a checkpoint keeps: the fields that a run goes on from, and numbers. `domain` must outlive it.
ModelState state_of(const Domain& domain, std::span<const ModelField> fields, std::vector<StateNumber> numbers);

}  // namespace tutti
