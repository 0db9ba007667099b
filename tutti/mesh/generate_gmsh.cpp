// Meshes made by the gmsh program: a geometry script goes in, a mesh file comes back.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/gmsh.hpp"

extern char** environ;

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct Files {
  fs::path script, mesh, log;
};

Files prepare_files(const fs::path& work_dir, const std::string& stem, const std::string& script) {
  std::error_code code;
  fs::create_directories(work_dir, code);
  if (code) fail(ErrorKind::io, "{}: cannot make the folder for gmsh: {}", work_dir.string(), code.message());
  Files f{work_dir / (stem + ".geo"), work_dir / (stem + ".msh"), work_dir / "gmsh.log"};
  std::ofstream out(f.script);
  out << script;
  out.close();
  if (!out) fail(ErrorKind::io, "{}: cannot write the geometry: {}", f.script.string(), std::strerror(errno));
  // An old mesh must not be taken for the new one.
  fs::remove(f.mesh, code);
  return f;
}

/// The environment without what an MPI launcher put there: a child that finds it would take itself for a rank.
std::vector<char*> child_environment() {
  std::vector<char*> result;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry(*e);
    const bool launcher = entry.starts_with("OMPI_") || entry.starts_with("PMIX_") || entry.starts_with("PMI_");
    if (!launcher) result.push_back(*e);
  }
  result.push_back(nullptr);
  return result;
}

/// Runs `words` with its output in `log`; returns the exit status, 128 + n for signal n.
int run_program(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = -1;
  const int code = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (code == ENOENT)
    fail(ErrorKind::resource, "the program {} was not found; install it (Debian: apt install gmsh) or put it on PATH",
         words[0]);
  if (code != 0) fail(ErrorKind::resource, "cannot run the program {}: {}", words[0], std::strerror(code));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail(ErrorKind::resource, "lost the program {}: {}", words[0], std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The last line of the log that reports an error, or the last line at all.
std::string last_words(const fs::path& log, bool& reports_error) {
  std::ifstream in(log);
  std::string line, last, last_error;
  while (std::getline(in, line)) {
    if (line.find_first_not_of(" \t\r-") == std::string::npos) continue;
    last = line;
    if (line.starts_with("Error")) last_error = line;
  }
  reports_error = !last_error.empty();
  return reports_error ? last_error : last;
}

TetMesh run_gmsh(const fs::path& work_dir, const std::string& stem, const std::string& script, int threads) {
  if (threads < 1) fail(ErrorKind::usage, "gmsh: {} threads; at least 1 is needed", threads);
  const Files files = prepare_files(work_dir, stem, script);
  const int status = run_program({"gmsh", "-3", "-algo", "hxt", "-nt", std::to_string(threads), "-format", "msh41",
                                  "-bin", files.script.string(), "-o", files.mesh.string()},
                                 files.log);
  // gmsh 4.8 ends with 0 after most errors, so its log and its file are asked too.
  bool reports_error = false;
  const std::string words = last_words(files.log, reports_error);
  if (status != 0 || reports_error || !fs::exists(files.mesh))
    fail(ErrorKind::input, "gmsh failed (exit code {}): '{}'; the whole output is in {}", status, words,
         files.log.string());
  return read_gmsh(files.mesh);
}

void check_edge_length(double h) {
  if (!(h > 0) || !std::isfinite(h)) fail(ErrorKind::usage, "gmsh: edge length {} is not positive", h);
}

std::string mesh_size(double h) {
  return fmt::format("Mesh.CharacteristicLengthMin = {0};\nMesh.CharacteristicLengthMax = {0};\n", h);
}

Vec3 vertex(const TetMesh& mesh, Gid v) {
  return mesh.vertices[static_cast<std::size_t>(v)];
}

// ---- heart ----

struct Ellipsoid {
  double shift, a, b, c;
  /// Distance from the surface to first order, in mm.
  double distance(Vec3 p) const {
    const Vec3 q{p.x - shift, p.y, p.z};
    const double f = std::sqrt(q.x * q.x / (a * a) + q.y * q.y / (b * b) + q.z * q.z / (c * c));
    const Vec3 gradient{q.x / (a * a), q.y / (b * b), q.z / (c * c)};
    return f == 0 ? -std::min({a, b, c}) : (f - 1) * f / norm(gradient);
  }
};

constexpr double base_plane = 15;
constexpr Ellipsoid lv_outer{0, 30, 30, 75}, lv_inner{0, 19, 19, 65};
constexpr Ellipsoid rv_outer{18, 42, 30, 62}, rv_inner{18, 37.5, 25.5, 57.5};

std::string heart_script(double h) {
  std::string s = "// A bi-ventricular heart, lengths in mm.\nSetFactory(\"OpenCASCADE\");\n";
  const auto ellipsoid = [&](int number, const Ellipsoid& e) {
    s += fmt::format("Sphere({0}) = {{0, 0, 0, 1}}; Dilate {{{{0, 0, 0}}, {{{1}, {2}, {3}}}}} {{ Volume{{{0}}}; }}\n",
                     number, e.a, e.b, e.c);
    if (e.shift != 0) s += fmt::format("Translate {{{}, 0, 0}} {{ Volume{{{}}}; }}\n", e.shift, number);
  };
  ellipsoid(1, lv_outer);
  ellipsoid(2, lv_inner);
  ellipsoid(3, rv_outer);
  ellipsoid(4, rv_inner);
  ellipsoid(5, lv_outer);
  s += "BooleanDifference(10) = { Volume{1}; Delete; }{ Volume{2}; Delete; };     // left ventricle\n";
  s += "BooleanDifference(11) = { Volume{3}; Delete; }{ Volume{4, 5}; Delete; };  // right ventricle, minus the left "
       "one\n";
  s += "BooleanUnion(12) = { Volume{10}; Delete; }{ Volume{11}; Delete; };\n";
  s += fmt::format("Box(20) = {{-200, -200, {}, 400, 400, 400}};\n", base_plane);
  s += "BooleanDifference(30) = { Volume{12}; Delete; }{ Volume{20}; Delete; };\n";
  s += "Physical Volume(\"myocardium\", 1) = {30};\n";
  s += "Physical Surface(\"wall\", 1) = CombinedBoundary{ Volume{30}; };\n";
  return s + mesh_size(h);
}

/// Which surface a triangle lies on: all its vertices are on it. The outer surface of the left ventricle is the septum
/// where it looks into the right cavity.
std::int32_t heart_surface(const std::array<Vec3, 3>& corners) {
  const auto farthest = [&](auto&& distance) {
    return std::max({std::abs(distance(corners[0])), std::abs(distance(corners[1])), std::abs(distance(corners[2]))});
  };
  const auto from = [&](const Ellipsoid& e) { return farthest([&](Vec3 p) { return e.distance(p); }); };
  if (farthest([](Vec3 p) { return p.z - base_plane; }) < 1e-6) return HeartTags::base;
  const std::array<double, 4> d = {from(lv_outer), from(lv_inner), from(rv_outer), from(rv_inner)};
  const auto nearest = std::min_element(d.begin(), d.end()) - d.begin();
  if (d[static_cast<std::size_t>(nearest)] > 1e-2) return 0;
  if (nearest == 1) return HeartTags::endocardium_lv;
  if (nearest == 2) return HeartTags::epicardium;
  if (nearest == 3) return HeartTags::endocardium_rv;
  const Vec3 centre = (1.0 / 3.0) * (corners[0] + corners[1] + corners[2]);
  // No wall of the right ventricle touches this surface between its two ellipsoids, so either is a sharp limit.
  return rv_inner.distance(centre) + rv_outer.distance(centre) < 0 ? HeartTags::endocardium_rv : HeartTags::epicardium;
}

// ---- box ----

std::string box_script(double h, std::optional<double> split) {
  std::string s = "SetFactory(\"OpenCASCADE\");\n";
  if (split) {
    s += fmt::format("Box(1) = {{0, 0, 0, {0}, 1, 1}};\nBox(2) = {{{0}, 0, 0, {1}, 1, 1}};\n", *split, 1 - *split);
    s += "BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }\n";
  } else {
    s += "Box(1) = {0, 0, 0, 1, 1, 1};\n";
  }
  s += "Physical Volume(\"box\", 1) = Volume{:};\n";
  s += "Physical Surface(\"wall\", 1) = CombinedBoundary{ Volume{:}; };\n";
  return s + mesh_size(h);
}

std::int32_t box_side(const std::array<Vec3, 3>& corners) {
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side) {
      const auto on = [&](Vec3 p) { return std::abs(p[d] - side) < 1e-9; };
      if (std::all_of(corners.begin(), corners.end(), on)) return 2 * d + side + 1;
    }
  return 0;
}

template <class Classify>
void retag_boundary(TetMesh& mesh, const std::map<std::int32_t, std::string>& names, Classify&& classify) {
  std::map<std::int32_t, Size> found;
  for (std::size_t t = 0; t < mesh.boundary.size(); ++t) {
    const auto& [a, b, c] = mesh.boundary[t];
    const std::array<Vec3, 3> corners = {vertex(mesh, a), vertex(mesh, b), vertex(mesh, c)};
    const std::int32_t tag = classify(corners);
    if (tag == 0)
      fail(ErrorKind::input, "gmsh made a boundary triangle at ({}, {}, {}) that lies on no surface of the geometry",
           corners[0].x, corners[0].y, corners[0].z);
    mesh.boundary_tags[t] = tag;
    ++found[tag];
  }
  for (const auto& [tag, name] : names)
    if (found[tag] == 0) fail(ErrorKind::input, "gmsh's mesh has no triangle on {}; try a smaller edge length", name);
  mesh.boundary_names = names;
}

}  // namespace

TetMesh generate_biventricle(double h, const std::filesystem::path& work_dir, int threads) {
  check_edge_length(h);
  TetMesh mesh = run_gmsh(work_dir, "heart", heart_script(h), threads);
  retag_boundary(mesh,
                 {{HeartTags::base, "base"},
                  {HeartTags::epicardium, "epicardium"},
                  {HeartTags::endocardium_lv, "endocardium-lv"},
                  {HeartTags::endocardium_rv, "endocardium-rv"}},
                 heart_surface);
  return mesh;
}

TetMesh generate_unstructured_box(double h, const std::filesystem::path& work_dir, std::optional<double> split_x,
                                  int threads) {
  check_edge_length(h);
  if (split_x && !(*split_x > 0 && *split_x < 1))
    fail(ErrorKind::usage, "box: split at x = {} is not in (0, 1)", *split_x);
  TetMesh mesh = run_gmsh(work_dir, "box", box_script(h, split_x), threads);
  // The classified corners are exact, so that faces and the interface are planes to the last bit.
  const auto snap = [](double& x, double plane) {
    if (std::abs(x - plane) < 1e-9) x = plane;
  };
  for (Vec3& v : mesh.vertices) {
    for (int d = 0; d < 3; ++d) snap(v[d], 0), snap(v[d], 1);
    if (split_x) snap(v.x, *split_x);
  }
  retag_boundary(mesh, {{1, "x-min"}, {2, "x-max"}, {3, "y-min"}, {4, "y-max"}, {5, "z-min"}, {6, "z-max"}}, box_side);
  if (!split_x) return mesh;
  mesh.region_names = {{1, "left"}, {2, "right"}};
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    double x = 0;
    for (const Gid v : mesh.cells[c]) x += 0.25 * vertex(mesh, v).x;
    mesh.regions[c] = x < *split_x ? 1 : 2;
  }
  return mesh;
}

}  // namespace tutti
