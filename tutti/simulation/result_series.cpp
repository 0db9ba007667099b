#include "tutti/simulation/result_series.hpp"

namespace tutti {

ResultSeries::ResultSeries(const Comm& comm, const std::filesystem::path& folder, std::string suffix,
                           std::span<const double> before)
    : comm_(comm), folder_(folder), suffix_(std::move(suffix)), series_(folder / "results.pvd") {
  for (const double time : before) series_.remember(time, joined_file_name("fields/fields", outputs_++, suffix_));
  comm_.together([&] {
    if (comm_.is_root()) {
      std::error_code error;
      std::filesystem::create_directories(folder_ / "fields", error);
      if (error)
        fail(ErrorKind::io, "{}: cannot make the folder: {}", (folder_ / "fields").string(),
             system_cause(error.value()));
    }
  });
}

void ResultSeries::write(double time, std::span<const int> mine, std::span<const int> all,
                         const WritePiece& write_piece, const WriteJoined& write_joined) {
  comm_.together([&] {
    for (std::size_t p = 0; p < mine.size(); ++p)
      write_piece(p, folder_ / piece_file_name("fields/fields", outputs_, mine[p], suffix_));
  });
  comm_.together([&] {
    if (!comm_.is_root()) return;
    std::vector<std::string> files;
    for (const int part : all) files.push_back(piece_file_name("fields", outputs_, part, suffix_));
    const std::string joined = joined_file_name("fields/fields", outputs_, suffix_);
    write_joined(folder_ / joined, files);
    series_.add(time, joined);
  });
  ++outputs_;
}

}  // namespace tutti
