#include "tutti/simulation/model.hpp"

#include "tutti/simulation/field_values.hpp"

namespace tutti {
namespace {

PartSummary describe_part(const Comm& comm, const Domain& domain, std::size_t p, const PartSeconds& seconds,
                          Size bytes) {
  PartSummary s;
  s.rank = comm.rank();
  s.device = domain.device(p).name();
  s.cells = domain.owned_count(p);
  s.ghosts = domain.maps[p].ghosts();
  s.weight = domain.weight(p);
  s.seconds = {seconds.separator, seconds.interior, seconds.exchange, seconds.idle};
  s.bytes = bytes;
  const double busy = seconds.separator + seconds.interior;
  s.gb_per_second = busy > 0 ? static_cast<double>(bytes) / busy * 1e-9 : 0;
  return s;
}

}  // namespace

ModelState Model::state() {
  return state_of(domain(), fields(), numbers());
}

std::vector<PartSeconds> part_seconds(const Model& model) {
  std::vector<PartSeconds> sum(model.domain().mine());
  for (const Step* schedule : model.schedules()) {
    const std::vector<PartSeconds>& one = schedule->seconds();
    sum.resize(one.size());
    for (std::size_t p = 0; p < one.size(); ++p) sum[p] += one[p];
  }
  return sum;
}

void summarise(const Comm& comm, Model& model, Summary& summary, double time) {
  const Domain& domain = model.domain();
  summary.cells = domain.rows;
  summary.balance = domain.balance;
  const std::vector<PartSeconds> seconds = part_seconds(model);
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    summary.parts.push_back(describe_part(comm, domain, p, seconds[p], model.bytes_moved(p)));
    summary.parts.back().held = model.held_arrays(p);
  }
  const ExchangeCounts counts = model.exchanged();
  summary.exchange.bytes = comm.sum(counts.bytes);
  summary.exchange.messages = comm.sum(counts.messages);
  summary.checksum = checksum_of(comm, domain, model.fields());
  model.summarise(summary, time);
  try {
    if (!model.exact_fields().empty()) summary.field_errors = model.field_errors(time);
  } catch (const SharedError& error) {
    // The exact solution has no value somewhere. The run itself is good: its summary and its fields are written.
    if (error.kind() != ErrorKind::input) throw;
    summary.problem = error.what();
  }
}

}  // namespace tutti
