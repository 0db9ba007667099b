#include "tutti/io/quality_report.hpp"

#include <nlohmann/json.hpp>

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Measure& m) {
  return {{"min", m.min},
          {"mean", m.mean},
          {"max", m.max},
          {"histogram", {{"edges", m.histogram.edges}, {"counts", m.histogram.counts}}}};
}

}  // namespace

std::string quality_json(const MeshQuality& q) {
  Json json{{"cells", q.cells}, {"triangles", q.triangles}, {"inverted", q.inverted}, {"total_volume", q.total_volume}};
  json["mean_ratio"] = json_of(q.mean_ratio);
  json["radius_ratio"] = json_of(q.radius_ratio);
  json["aspect"] = json_of(q.aspect);
  json["dihedral"] = json_of(q.dihedral);
  json["volume"] = json_of(q.volume);
  json["worst"] = Json::array();
  for (const WorstCell& w : q.worst)
    json["worst"].push_back({{"cell", w.cell},
                             {"region", w.region},
                             {"mean_ratio", w.quality.mean_ratio},
                             {"radius_ratio", w.quality.radius_ratio},
                             {"aspect", w.quality.aspect},
                             {"dihedral", std::vector<double>(w.quality.dihedral.begin(),
                                                              w.quality.dihedral.begin() + (q.triangles ? 3 : 6))},
                             {"volume", w.quality.volume},
                             {"centroid", {w.centroid.x, w.centroid.y, w.centroid.z}}});
  return json.dump(2) + "\n";
}

}  // namespace tutti
