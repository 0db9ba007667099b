#include "tutti/io/output_folder.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Every file that a run writes directly into its folder.
constexpr std::array<std::string_view, 21> files = {
    "run.log",         "summary.json",    "results.pvd",     "results.vtkhdf", "results.vtkhdf.redo", "probes.csv",
    "history.csv",     "metrics.jsonl",   "profiles.csv",    "spectra.csv",    "effective.toml",      "trace.json",
    "betweenness.csv", "betweenness.npy", "betweenness.npz", "closeness.csv",  "closeness.npy",       "closeness.npz",
    "components.csv",  "components.npy",  "components.npz"};
constexpr std::array<std::string_view, 3> marks = {"summary.json", "results.pvd", "results.vtkhdf"};
/// Folders that a run makes; those of a generator (mesh/) stay, gmsh may be asked to write them again.
constexpr std::array<std::string_view, 7> folders = {"fields",   "slices",      "lines", "planes",
                                                     "surfaces", "checkpoints", "mesh"};

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Takes `end` off; false where the text ends otherwise.
bool take_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

/// Takes digits off the end and what is before them, which must be `mark`.
bool take_number(std::string_view& text, std::string_view mark) {
  const auto begin = text.find_last_not_of("0123456789") + 1;  // 0 where there is none
  if (begin == text.size()) return false;
  text = text.substr(0, begin);
  return take_end(text, mark);
}

/// The series that a file belongs to: "fields" of "fields_000012.pvtu" and "fields_000012_p0003.vtr"; empty: of none.
std::string_view series_of(std::string_view name) {
  for (const std::string_view suffix : {"vtu", "vti", "vtr"}) {
    std::string_view joined = name, piece = name;
    if (take_end(joined, suffix) && take_end(joined, ".p") && take_number(joined, "_")) return joined;
    if (take_end(piece, suffix) && take_end(piece, ".") && take_number(piece, "_p") && take_number(piece, "_"))
      return piece;
  }
  return {};
}

bool is_field_file(std::string_view name) {
  return series_of(name) == "fields";
}

bool is_of_series(std::string_view name, std::string_view stem) {
  std::string_view series = name;
  if (!take_end(series, ".pvd")) series = series_of(name);
  return series.starts_with(stem) && series.size() > stem.size();
}

bool is_slice_file(std::string_view name) {
  return is_of_series(name, "slice-");
}

bool is_line_file(std::string_view name) {
  return take_end(name, ".csv") && can_name_a_file(std::string(name));
}

bool is_plane_file(std::string_view name) {
  return is_of_series(name, "plane-") || is_line_file(name);
}

bool is_checkpoint_file(std::string_view name) {
  return name.ends_with(".h5") || name.ends_with(".h5.tmp");
}

/// "NAME.<process>.tmp": what a run that was killed leaves of the file NAME.
std::string_view without_temporary(std::string_view name) {
  if (!name.ends_with(".tmp")) return name;
  const std::string_view stem = name.substr(0, name.size() - 4);
  const auto dot = stem.rfind('.');
  return dot != std::string_view::npos && all_digits(stem.substr(dot + 1)) ? stem.substr(0, dot) : name;
}

/// Entries of a folder; none where it is not there.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return {};
  std::vector<fs::path> found;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) found.push_back(it->path());
  if (error) fail(ErrorKind::io, "{}: the folder cannot be read: {}", folder.string(), system_cause(error.value()));
  return found;
}

bool is_link(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(fs::symlink_status(path, ignored));
}

/// A file or a link; a folder under the name of a file is not tutti's.
bool is_file(const fs::path& path) {
  std::error_code ignored;
  const auto status = fs::symlink_status(path, ignored);
  return fs::is_regular_file(status) || fs::is_symlink(status);
}

void remove_file(const fs::path& path) {
  std::error_code error;
  if (is_file(path)) fs::remove(path, error);
  if (error) fail(ErrorKind::io, "{}: cannot be removed: {}", path.string(), system_cause(error.value()));
}

bool is_own_file(std::string_view name) {
  return std::find(files.begin(), files.end(), name) != files.end();
}

bool is_mark(std::string_view name) {
  return std::find(marks.begin(), marks.end(), name) != marks.end();
}

/// What killed runs were writing here; with every one there would be more of it.
template <class Belongs>
void remove_temporaries(const fs::path& folder, Belongs&& belongs) {
  if (is_link(folder)) return;
  for (const fs::path& path : entries(folder)) {
    const std::string name = path.filename().string();
    if (without_temporary(name) != name && belongs(without_temporary(name))) remove_file(path);
  }
}

template <class Belongs>
void clear(const fs::path& folder, Belongs&& belongs) {
  if (is_link(folder)) return remove_file(folder);  // the link, not what it leads to
  for (const fs::path& path : entries(folder))
    if (belongs(without_temporary(path.filename().string()))) remove_file(path);
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) fs::remove(folder, ignored);  // only when nothing is left in it
}

/// The first thing there that tells of an earlier run; empty: none.
fs::path earlier_result(const fs::path& folder) {
  for (const std::string_view name : marks)
    if (is_file(folder / name)) return folder / name;
  for (const fs::path& path : entries(folder / "checkpoints"))
    if (is_checkpoint_file(path.filename().string())) return path;
  return {};
}

[[noreturn]] void refuse_link(const fs::path& path) {
  std::error_code ignored;
  fail(ErrorKind::io,
       "{}: this is a symbolic link (to {}), and tutti writes nothing outside the results folder; remove it, or choose "
       "another folder with -o",
       path.string(), fs::read_symlink(path, ignored).string());
}

void refuse_links(const fs::path& folder) {
  for (const std::string_view name : files)
    if (is_link(folder / name)) refuse_link(folder / name);
  for (const std::string_view name : folders) {
    if (is_link(folder / name)) refuse_link(folder / name);
    for (const fs::path& path : entries(folder / name))
      if (is_link(path)) refuse_link(path);
  }
}

}  // namespace

bool can_name_a_file(const std::string& name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !name.empty() && name.size() <= 100 && name.find_first_not_of(letters) == std::string::npos;
}

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error))
    fail(ErrorKind::io, "{}: cannot create the folder: {}; choose another with -o", folder.string(),
         error ? error.message() : "a file of this name is there");
}

void prepare_output_folder(const fs::path& folder, OutputUse use) {
  make_output_folder(folder);
  std::error_code error;
  if (use == OutputUse::fresh) {
    if (const fs::path found = earlier_result(folder); !found.empty())
      fail(ErrorKind::usage,
           "{}: the folder has the results of an earlier run ({}); choose another with -o, or use --overwrite to "
           "remove them",
           folder.string(), fs::relative(found, folder, error).string());
  }
  if (use == OutputUse::overwrite) {
    // In an order that a kill may cut short: no checkpoint is left whose results are gone, and a mark of an earlier run
    // is there until all else has gone.
    clear(folder / "checkpoints", is_checkpoint_file);
    clear(folder / "fields", is_field_file);
    clear(folder / "slices", is_slice_file);
    clear(folder / "lines", is_line_file);
    clear(folder / "planes", is_plane_file);
    clear(folder / "surfaces", is_line_file);
    std::vector<fs::path> marked;
    for (const fs::path& path : entries(folder)) {
      const std::string name = path.filename().string();
      if (is_mark(name))
        marked.push_back(path);
      else if (is_own_file(without_temporary(name)))
        remove_file(path);
    }
    for (const fs::path& path : marked) remove_file(path);
  }
  refuse_links(folder);
  if (use == OutputUse::go_on) {
    remove_temporaries(folder, is_own_file);
    remove_temporaries(folder / "fields", is_field_file);
    remove_temporaries(folder / "slices", is_slice_file);
    remove_temporaries(folder / "lines", is_line_file);
    remove_temporaries(folder / "planes", is_plane_file);
    remove_temporaries(folder / "surfaces", is_line_file);
  }
}

std::vector<fs::path> folders_to_make(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path above = folder; !above.empty() && !fs::exists(above, error) && !error; above = above.parent_path())
    if (above.has_filename()) missing.push_back(above);
  return missing;
}

void remove_unused_folders(const std::vector<fs::path>& made, bool with_mesh) {
  std::error_code error;
  if (made.empty() || !fs::is_directory(made.front(), error)) return;
  const fs::path mesh = made.front() / "mesh", log = made.front() / "run.log";
  for (const fs::path& path : entries(made.front()))
    if (path != log && (path != mesh || is_link(mesh) || !with_mesh)) return;
  if (is_file(log)) remove_file(log);  // it says no more than the terminal
  clear(mesh, [](std::string_view) { return true; });
  for (const fs::path& folder : made) fs::remove(folder, error);  // one that holds anything stays
}

}  // namespace tutti
