// Compiles as plain C++ without CUDA.
#include <algorithm>
#include <limits>

#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/models/graph/rmat_arc.hpp"

namespace tutti::graph {

ArcList empty_rmat(const RmatSpec& spec, Size first, Size end);

namespace {

struct MakeArcs {
  RmatArc make;
  Size first;
  Arc* arcs;
  double* weights;
  TUTTI_HD void operator()(Lid i) const {
    arcs[i] = make.arc(first + i);
    if (weights != nullptr) weights[i] = make.weight(first + i);
  }
};

/// What a launch makes is small beside a device's memory.
Size portion_of(const RmatSpec& spec) {
  return std::min<Size>(spec.degree << spec.scale, Size{1} << 24);
}

}  // namespace

Size bytes_to_generate(const RmatSpec& spec) {
  return portion_of(spec) * static_cast<Size>(sizeof(Arc) + (spec.weights ? sizeof(double) : 0));
}

ArcList generate_rmat(const RmatSpec& spec, Device& device) {
  ArcList list = empty_rmat(spec, 0, spec.degree << spec.scale);
  const auto stream = device.make_stream("generate");
  const Size portion = portion_of(spec);
  Buffer<Arc> arcs(device, portion, "arcs");
  Buffer<double> weights(device, spec.weights ? portion : 0, "weights");
  for (Size first = 0; first < list.size(); first += portion) {
    const Size count = std::min(portion, list.size() - first);
    for_each(*stream, {0, static_cast<Lid>(count)}, MakeArcs{RmatArc(spec), first, arcs.data(), weights.data()});
    const auto at = static_cast<std::size_t>(first), n = static_cast<std::size_t>(count);
    download(*stream, std::span(list.arcs).subspan(at, n), arcs);
    if (spec.weights) download(*stream, std::span(list.weights).subspan(at, n), weights);
  }
  return list;
}

}  // namespace tutti::graph
