#include "tutti/simulation/output/result_series.hpp"

namespace tutti {

ResultSeries::ResultSeries(const Comm& comm, const std::filesystem::path& folder, std::string suffix,
                           std::span<const double> before, const SeriesNames& names)
    : comm_(comm), folder_(folder), stem_(names.stem), suffix_(std::move(suffix)), series_(folder / names.series) {
  for (const double time : before) series_.remember(time, joined_file_name(stem_, outputs_++, suffix_));
  comm_.together([&] {
    if (comm_.is_root()) {
      std::error_code error;
      const auto made = (folder_ / stem_).parent_path();
      std::filesystem::create_directories(made, error);
      if (error) fail(ErrorKind::io, "{}: cannot create the folder: {}", made.string(), system_cause(error.value()));
    }
  });
}

void ResultSeries::write(double time, std::span<const int> mine, std::span<const int> all,
                         const WritePiece& write_piece, const WriteJoined& write_joined) {
  comm_.together([&] {
    for (std::size_t p = 0; p < mine.size(); ++p)
      write_piece(p, folder_ / piece_file_name(stem_, outputs_, mine[p], suffix_));
  });
  comm_.together([&] {
    if (!comm_.is_root()) return;
    std::vector<std::string> files;
    const std::string beside = std::filesystem::path(stem_).filename().string();
    for (const int part : all) files.push_back(piece_file_name(beside, outputs_, part, suffix_));
    const std::string joined = joined_file_name(stem_, outputs_, suffix_);
    write_joined(folder_ / joined, files);
    series_.add(time, joined);
  });
  ++outputs_;
}

}  // namespace tutti
