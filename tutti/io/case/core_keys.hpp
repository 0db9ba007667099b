// The keys every model has: mesh, time, output, partition, balance, devices, report.
#pragma once

#include <string>
#include <vector>

#include "tutti/io/case/case_schema.hpp"

namespace tutti {

/// What a model computes on, which decides how its domain is described and cut.
enum class DomainKeys : std::uint8_t {
  tetrahedra,  ///< [mesh], [partition] with graph partitioners
  box,         ///< [grid], [partition] with cuts
  elements,    ///< [mesh] of any elements, [partition] with graph partitioners
  nodes,       ///< [nodes] on a sphere, [partition] with graph partitioners
  graph,       ///< [graph] and [steps]: neither space nor time
};

/// A schema with the core's keys; `models` are the choices of the key `model`. A model then adds its own keys.
CaseSchema core_schema(const std::vector<std::string>& models, DomainKeys domain = DomainKeys::tetrahedra);

}  // namespace tutti
