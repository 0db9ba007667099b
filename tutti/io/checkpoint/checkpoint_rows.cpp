// Reading the arrays of a checkpoint, without the HDF5 library: checkpoint_layout.hpp says why.
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/input_file.hpp"
#include "tutti/io/checkpoint/checkpoint_file.hpp"
#include "tutti/io/checkpoint/checkpoint_layout.hpp"

namespace tutti {

struct CheckpointFile::Open {
  std::string name;
  InputFile file;
  std::map<std::string, CheckpointArray> arrays;

  explicit Open(const std::filesystem::path& path) : name(path.string()), file(path, "checkpoint") {}

  [[noreturn]] void damaged(const std::string& what) const {
    fail(ErrorKind::input, "{}: {}: this checkpoint was not written by this tutti; use one that was", name, what);
  }
  void read_all(std::span<char> to, Size offset) const {
    if (file.read(to, offset) != to.size()) damaged("the file ends");
  }
  const CheckpointArray& array(const std::string& path, CheckpointType type, std::size_t rank) const {
    const auto at = arrays.find(path);
    if (at == arrays.end()) damaged("there is no array /" + path);
    if (at->second.type != type || at->second.shape.size() != rank) damaged("/" + path + " has another type or shape");
    return at->second;
  }
  template <class T>
  std::vector<T> rows(const CheckpointArray& all, Size begin, Size count) const {
    static_assert(sizeof(T) == 8);
    const Size width = all.shape.size() > 1 ? all.shape[1] : 1;
    if (begin < 0 || count < 0 || begin > all.shape[0] || count > all.shape[0] - begin)
      damaged(fmt::format("it has {} rows, row {} is asked for", all.shape[0], begin + count - 1));
    std::vector<T> values(count * width);
    read_all({reinterpret_cast<char*>(values.data()), values.size() * sizeof(T)}, all.offset + begin * width * 8);
    return values;
  }
};

CheckpointFile::CheckpointFile(const std::filesystem::path& path) : open_(std::make_unique<Open>(path)) {
  Open& file = *open_;
  file.arrays = read_checkpoint_layout([&](std::span<char> to, Size offset) { return file.file.read(to, offset); },
                                       file.file.size(), file.name);

  const CheckpointArray& meta = file.array("meta", CheckpointType::text, 0);
  frame_.meta.resize(meta.bytes);
  file.read_all(frame_.meta, meta.offset);

  const CheckpointArray& begins = file.array("rows/part_begin", CheckpointType::integer, 1);
  if (begins.shape[0] < 1) file.damaged("/rows/part_begin has another shape");
  frame_.part_begin = file.rows<Size>(begins, 0, begins.shape[0]);
  for (std::size_t p = 0; p < frame_.part_begin.size(); ++p)
    if (frame_.part_begin[p] < (p == 0 ? 0 : frame_.part_begin[p - 1])) file.damaged("/rows/part_begin goes down");
  if (frame_.part_begin.front() != 0) file.damaged("/rows/part_begin does not begin with 0");
  if (file.array("rows/global", CheckpointType::integer, 1).shape[0] != frame_.rows())
    file.damaged("/rows/global has another shape");

  const std::string folder = "fields/";
  for (const auto& [name, _] : file.arrays) {
    if (name == "meta" || name == "rows/part_begin" || name == "rows/global") continue;
    if (!name.starts_with(folder)) file.damaged("/" + name + " does not belong there");
    const CheckpointArray& field = file.array(name, CheckpointType::real, 2);
    constexpr Size max_components = 1 << 20;
    if (field.shape[0] != frame_.rows() || field.shape[1] < 1 || field.shape[1] > max_components)
      file.damaged("/" + name + " has another shape");
    frame_.fields.push_back({name.substr(folder.size()), static_cast<int>(field.shape[1])});
  }
}

CheckpointFile::~CheckpointFile() = default;
CheckpointFile::CheckpointFile(CheckpointFile&&) noexcept = default;

std::vector<Gid> CheckpointFile::read_global(Size begin, Size count) const {
  return open_->rows<Gid>(open_->array("rows/global", CheckpointType::integer, 1), begin, count);
}

std::vector<double> CheckpointFile::read_field(std::size_t field, Size begin, Size count) const {
  return open_->rows<double>(open_->array("fields/" + frame_.fields[field].name, CheckpointType::real, 2), begin,
                             count);
}

}  // namespace tutti
