#include "tutti/program/planned.hpp"

#include "tutti/exchange/exchange.hpp"

namespace tutti {

Size PlannedPart::bytes() const {
  Size sum = 0;
  for (const PlannedArray& a : arrays) sum += a.bytes;
  return sum;
}

void add_held(PlannedPart& part, const std::string& name, const HeldPlan& held, int passes) {
  part.arrays.push_back({name, held.placement.device_bytes});
  part.copied_a_step += passes * held.copied;
  part.copies_behind = part.copies_behind && held.policy != Policy::overlaid;
  part.about += (part.about.empty() ? "" : "; ") + name + " " + held.about();
}

void plan_exchanges(const Comm& comm, const Domain& domain, int values, int times, std::vector<PlannedPart>& parts) {
  std::vector<IndexMap> maps;
  if (values > 1)
    for (const IndexMap& map : domain.maps) maps.push_back(with_components(map, values));
  const Plan plan = make_plan(values > 1 ? std::span<const IndexMap>(maps) : domain.maps, comm.rank());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].ghosts = domain.maps[p].ghosts();
    if (const Size bytes = device_message_bytes(plan, domain.routing, domain.streams, static_cast<int>(p), 1, 8);
        bytes > 0)
      parts[p].arrays.push_back({"packed messages", bytes});
  }
  for (const Message& m : plan.outgoing) {
    PlannedPart& part = parts[m.source];
    part.messages += times;
    part.message_bytes += times * m.count * 8;
  }
}

}  // namespace tutti
