#include "tutti/simulation/field_values.hpp"

#include <algorithm>
#include <bit>

#include "tutti/base/random.hpp"
#include "tutti/domain/sampling/interpolation.hpp"

namespace tutti {

std::vector<double> values_of(const Domain& domain, const ModelField& field, std::size_t p) {
  std::vector<double> values(domain.owned_count(p) * field.components);
  if (!values.empty()) field.read(p, domain.owned(p), values);
  return values;
}

std::vector<std::string> probed_names(std::span<const ModelField> fields) {
  std::vector<std::string> names;
  for (const ModelField& field : fields) names.insert(names.end(), field.probes.begin(), field.probes.end());
  return names;
}

std::vector<double> probed_values(const Comm& comm, std::span<const ModelField> fields,
                                  std::span<const RowPlace> places, std::size_t probes) {
  const std::size_t quantities = probed_names(fields).size();
  struct Value {
    std::size_t at;
    int entry;
    double value;
  };
  std::vector<Value> mine;
  comm.together([&] {
    for (const RowPlace& place : places) {
      std::size_t at = place.probe * quantities;
      for (const ModelField& field : fields) {
        if (field.probes.empty()) continue;
        std::vector<double> values(field.components);
        // A field that knows its values within rows is asked where the point is; of others the rows around count.
        const bool whole = place.interpolated && field.at;
        if (place.interpolated && whole != place.inside.has_value()) {
          at += values.size();
          continue;
        }
        if (whole)
          field.at(place.p, place.row.rows.begin, *place.inside, values);
        else
          field.read(place.p, place.row, values);
        for (const double value : values) mine.push_back({at++, place.entry, whole ? value : place.weight * value});
      }
    }
  });
  std::vector<Value> gathered = comm.all_gather(std::span<const Value>(mine));
  std::ranges::sort(gathered,
                    [](const Value& a, const Value& b) { return a.at != b.at ? a.at < b.at : a.entry < b.entry; });
  // Each row has one owner: what it says stands, also where it is not a number.
  std::vector<double> all(probes * quantities);
  for (const Value& v : gathered) all[v.at] = v.entry == 0 ? v.value : all[v.at] + v.value;
  return all;
}

std::vector<RowPlace> sampled_rows(const Comm& comm, const Domain& domain, std::span<const Vec3> points,
                                   std::span<const std::string> labels, bool interpolated) {
  return interpolated ? interpolated_rows(comm, domain, points, labels) : domain.locate(comm, points, labels);
}

std::uint64_t checksum_of(const Comm& comm, const Domain& domain, std::span<const ModelField> fields) {
  // A sum of hashes of (number of the value, bits), a different factor for each field.
  std::uint64_t sum = 0, factor = 1;
  for (const ModelField& field : fields) {
    if (!field.checksum) continue;
    const auto components = static_cast<std::size_t>(field.components);
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      const std::vector<double> values = values_of(domain, field, p);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto row = static_cast<std::uint64_t>(domain.maps[p].global[i / components]);
        sum += factor * random_bits(row * components + i % components, std::bit_cast<std::uint64_t>(values[i]));
      }
    }
    factor += 2;
  }
  return static_cast<std::uint64_t>(comm.sum(static_cast<std::int64_t>(sum)));
}

ModelState state_of(const Domain& domain, std::span<const ModelField> fields, std::vector<StateNumber> numbers) {
  ModelState state;
  for (const ModelField& field : fields)
    if (field.restart)
      state.fields.push_back({field.name, field.components,
                              [&domain, read = field.read](std::size_t p, std::span<double> to) {
                                if (!to.empty()) read(p, domain.owned(p), to);
                              },
                              [write = field.write](std::size_t p, std::span<const double> from) {
                                if (!from.empty()) write(p, from);
                              }});
  state.numbers = std::move(numbers);
  state.maps = domain.maps;
  state.rank_of_part = domain.rank_of_part;
  state.rows = domain.rows;
  state.mesh_checksum = domain.checksum;
  return state;
}

}  // namespace tutti
