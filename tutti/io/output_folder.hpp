// The folder of a run's results: nothing of an earlier run is lost unasked, nothing is written outside of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti {

enum class OutputUse {
  fresh,      ///< results of an earlier run are an error
  overwrite,  ///< results of an earlier run are removed
  go_on,      ///< they stay: the run that made them is continued; what it was writing when it was killed goes
};

/// Letters, digits, - and _, at most 100: may stand in the name of a file of results.
bool can_name_a_file(const std::string& name);

/// Makes `folder` and those above it. Error(io).
void make_output_folder(const std::filesystem::path& folder);

/// Makes `folder` and gets it ready for a run.
///
/// Results are summary.json, results.pvd and a checkpoints/ that is not empty. `overwrite` removes the files that tutti
/// writes, by their names, and folders that are empty then; whatever else lies there stays.
///
/// Errors: usage (results are there and `use` is fresh: names the ways out), io (the folder cannot be made or cleared;
/// a symbolic link stands where tutti writes: it would lead out of the folder).
void prepare_output_folder(const std::filesystem::path& folder, OutputUse use);

/// Of `folder` and those above it the ones that are not there, the lowest first.
std::vector<std::filesystem::path> folders_to_make(const std::filesystem::path& folder);
/// A run that ended before it wrote anything leaves nothing: removes the folders that it has `made`, as
/// folders_to_make() gave them before, if they are empty; with `with_mesh`, also the mesh that it has generated there.
void remove_unused_folders(const std::vector<std::filesystem::path>& made, bool with_mesh);

}  // namespace tutti
