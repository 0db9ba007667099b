#include "tutti/io/vtk/vtkhdf.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/io/hdf5_handle_internal.hpp"

namespace tutti {
namespace {

using hdf5::Handle;

constexpr const char* head = "VTKHDF";
constexpr const char* steps = "VTKHDF/Steps";

[[noreturn]] void fail_to_write(const std::filesystem::path& path) {
  fail(ErrorKind::io, "{}: results cannot be written: {}; free space, or write elsewhere with -o", path.string(),
       hdf5::cause());
}

struct Numbers {
  hid_t kept, given;  ///< types in the file and in memory
  const void* data;
  hsize_t count;
};
Numbers numbers_of(const VtkArray& array) {
  return std::visit(
      [](auto values) -> Numbers {
        using T = std::remove_const_t<typename decltype(values)::element_type>;
        const auto n = static_cast<hsize_t>(values.size());
        if constexpr (std::is_same_v<T, double>) return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), n};
        if constexpr (std::is_same_v<T, float>) return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values.data(), n};
        if constexpr (std::is_same_v<T, std::int64_t>) return {H5T_STD_I64LE, H5T_NATIVE_INT64, values.data(), n};
        if constexpr (std::is_same_v<T, std::int32_t>) return {H5T_STD_I32LE, H5T_NATIVE_INT32, values.data(), n};
      },
      array.values);
}

/// An open file and what is done in it; each failure is the file's Error(io).
class Editor {
 public:
  Editor(const std::filesystem::path& path, int level, bool make) : path_(path), level_(level), file_(open(make)) {}
  ~Editor() = default;
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  void check(bool good) const {
    if (!good) fail_to_write(path_);
  }
  void close() {
    check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) >= 0);
    check(file_.close() && !hdf5::any_failed());
  }

  bool has(const std::string& name) const { return H5Lexists(file_.get(), name.c_str(), H5P_DEFAULT) > 0; }
  void group(const char* name) const {
    const Handle made(H5Gcreate2(file_.get(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    check(made.valid());
  }
  /// An array without rows, of `width` numbers a row.
  void array(const std::string& name, hid_t type, hsize_t width) const {
    const bool flat = width == 1;
    const std::array<hsize_t, 2> now{0, width}, most{H5S_UNLIMITED, width},
        chunk{std::max<hsize_t>(1, 65536 / width), width};
    const int rank = flat ? 1 : 2;
    const Handle space(H5Screate_simple(rank, now.data(), most.data()), H5Sclose);
    const Handle options(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(options.get(), rank, chunk.data());
    if (level_ > 0) {
      H5Pset_shuffle(options.get());
      H5Pset_deflate(options.get(), static_cast<unsigned>(level_));
    }
    const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    const Handle set(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), links.get(), options.get(), H5P_DEFAULT),
                     H5Dclose);
    check(set.valid());
  }
  /// Rows, and numbers a row.
  std::array<hsize_t, 2> shape(const std::string& name) const {
    const Handle set(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    check(set.valid());
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    std::array<hsize_t, 2> shape{0, 1};
    check(H5Sget_simple_extent_ndims(space.get()) <= 2 &&
          H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr) >= 0);
    return shape;
  }
  void resize(const std::string& name, hsize_t rows) const {
    const Handle set(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const std::array<hsize_t, 2> size{rows, shape(name)[1]};
    check(set.valid() && H5Dset_extent(set.get(), size.data()) >= 0);
  }
  /// Behind the rows that are there.
  void append(const std::string& name, hid_t type, const void* data, hsize_t rows) const {
    const auto before = shape(name);
    resize(name, before[0] + rows);
    if (rows == 0) return;
    const Handle set(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    const std::array<hsize_t, 2> start{before[0], 0}, count{rows, before[1]};
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0);
    const Handle memory(H5Screate_simple(2, count.data(), nullptr), H5Sclose);
    check(H5Dwrite(set.get(), type, memory.get(), space.get(), H5P_DEFAULT, data) >= 0);
  }
  void append(const std::string& name, std::int64_t number) const { append(name, H5T_NATIVE_INT64, &number, 1); }

  void attribute(const char* group, const char* name, hid_t kept, hid_t given, const void* data, hsize_t count) const {
    const Handle at(H5Gopen2(file_.get(), group, H5P_DEFAULT), H5Gclose);
    check(at.valid());
    if (H5Aexists(at.get(), name) > 0) check(H5Adelete(at.get(), name) >= 0);
    const Handle space(count > 1 ? H5Screate_simple(1, &count, nullptr) : H5Screate(H5S_SCALAR), H5Sclose);
    const Handle made(H5Acreate2(at.get(), name, kept, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(made.valid() && H5Awrite(made.get(), given, data) >= 0);
  }
  void text_attribute(const char* group, const char* name, const std::string& text) const {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), text.size());
    H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
    attribute(group, name, type.get(), type.get(), text.data(), 1);
  }
  void set_steps(Size count) const {
    const auto number = static_cast<std::int64_t>(count);
    attribute(steps, "NSteps", H5T_STD_I64LE, H5T_NATIVE_INT64, &number, 1);
  }

 private:
  Handle open(bool make) const {
    hdf5::start();
    if (!make) {
      Handle there(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      if (!there.valid())
        fail(ErrorKind::io,
             "{}: cannot be read: {}; a run that was killed may have damaged it: write elsewhere with -o",
             path_.string(), hdf5::cause());
      return there;
    }
    Handle made(H5Fcreate(path_.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    check(made.valid());
    return made;
  }

  const std::filesystem::path& path_;
  int level_;
  Handle file_;
};

/// Of Steps: one number a time, or one a time and topology.
constexpr std::array step_arrays = {"Values",       "PartOffsets", "NumberOfParts",
                                    "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"};

/// `data`: their group.
std::size_t arrays_in(const Editor& file, const std::string& data, std::span<const VtkArray> arrays) {
  std::size_t there = 0;
  for (const VtkArray& array : arrays)
    if (file.has("VTKHDF/" + data) && file.has("VTKHDF/" + data + "/" + array.name)) ++there;
  return there;
}

hsize_t cells_of(std::span<const PieceCells> parts) {
  hsize_t cells = 0;
  for (const PieceCells& part : parts) cells += part.types.size();
  return cells;
}

}  // namespace

void VtkhdfFile::create(std::span<const PieceCells> parts) {
  std::error_code error;
  if (std::filesystem::is_directory(std::filesystem::symlink_status(path_, error)))
    fail(ErrorKind::io, "{}: it is a folder; remove it, or write elsewhere with -o", path_.string());
  std::filesystem::remove(path_, error);  // of an earlier run, or a link to another place
  Editor file(path_, level_, true);
  file.group(head);
  const std::array<std::int64_t, 2> version{2, 0};
  file.attribute(head, "Version", H5T_STD_I64LE, H5T_NATIVE_INT64, version.data(), 2);
  file.text_attribute(head, "Type", "UnstructuredGrid");
  const auto in_head = [](const char* name) { return std::string(head) + "/" + name; };
  for (const char* name : {"NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds", "Connectivity", "Offsets"})
    file.array(in_head(name), H5T_STD_I64LE, 1);
  file.array(in_head("Points"), H5T_IEEE_F64LE, 3);
  file.array(in_head("Types"), H5T_STD_U8LE, 1);
  for (const PieceCells& part : parts) {
    file.append(in_head("NumberOfPoints"), static_cast<std::int64_t>(part.points.size()));
    file.append(in_head("NumberOfCells"), static_cast<std::int64_t>(part.types.size()));
    file.append(in_head("NumberOfConnectivityIds"), static_cast<std::int64_t>(part.connectivity.size()));
    static_assert(sizeof(Vec3) == 3 * sizeof(double));
    file.append(in_head("Points"), H5T_NATIVE_DOUBLE, part.points.data(), part.points.size());
    file.append(in_head("Connectivity"), H5T_NATIVE_INT64, part.connectivity.data(), part.connectivity.size());
    file.append(in_head("Offsets"), H5T_NATIVE_INT64, part.offsets.data(), part.offsets.size());
    file.append(in_head("Types"), H5T_NATIVE_UINT8, part.types.data(), part.types.size());
  }
  file.group(in_head(data_.c_str()).c_str());
  file.group(steps);
  file.group((std::string(steps) + "/" + data_ + "Offsets").c_str());
  for (const std::string name : step_arrays)
    file.array(std::string(steps) + "/" + name, name == "Values" ? H5T_IEEE_F64LE : H5T_STD_I64LE, 1);
  file.set_steps(0);
  file.close();
}

void VtkhdfFile::go_on(std::span<const PieceCells> parts, Size times) {
  hdf5::start();
  if (H5Fis_hdf5(path_.c_str()) <= 0)
    fail(ErrorKind::io, "{}: the results of the run to go on with are not there; give its folder, or start anew",
         path_.string());
  Editor file(path_, level_, false);
  const std::string values = std::string(steps) + "/Values";
  const bool fits = file.has(head) && file.has(steps) && file.has(values) &&
                    file.shape("VTKHDF/Types")[0] == cells_of(parts) &&
                    file.shape("VTKHDF/NumberOfCells")[0] == parts.size();
  if (!fits || file.shape(values)[0] < static_cast<hsize_t>(times))
    fail(ErrorKind::input,
         "{}: it is of another mesh, of other parts, or damaged; take as many devices, or write elsewhere with -o",
         path_.string());
  for (const char* name : step_arrays) file.resize(std::string(steps) + "/" + name, static_cast<hsize_t>(times));
  file.set_steps(times);
  file.close();
}

void VtkhdfFile::add(double time, std::span<const VtkArray> arrays) {
  Editor file(path_, level_, false);
  const hsize_t time_number = file.shape(std::string(steps) + "/Values")[0],
                rows = file.shape(at_points_ ? "VTKHDF/Points" : "VTKHDF/Types")[0],
                parts = file.shape("VTKHDF/NumberOfCells")[0];
  if (time_number > 0 && arrays_in(file, data_, arrays) != arrays.size())
    fail(ErrorKind::usage, "{}: it has no such fields at the times before; write elsewhere with -o", path_.string());
  for (const VtkArray& array : arrays) {
    const std::string name = "VTKHDF/" + data_ + "/" + array.name,
                      offsets = "VTKHDF/Steps/" + data_ + "Offsets/" + array.name;
    const Numbers numbers = numbers_of(array);
    if (!file.has(name)) {
      file.array(name, numbers.kept, static_cast<hsize_t>(array.components));
      file.array(offsets, H5T_STD_I64LE, 1);
    }
    require(numbers.count == rows * static_cast<hsize_t>(array.components), "{}: {} values for {} rows", array.name,
            numbers.count, rows);
    file.resize(name, time_number * rows);  // what a run behind a checkpoint has left goes
    file.resize(offsets, time_number);
    file.append(name, numbers.given, numbers.data, rows);
    file.append(offsets, static_cast<std::int64_t>(time_number * rows));
  }
  file.append(std::string(steps) + "/Values", H5T_NATIVE_DOUBLE, &time, 1);
  for (const std::string name : step_arrays)
    if (name != "Values")
      file.append(std::string(steps) + "/" + name, name == "NumberOfParts" ? static_cast<std::int64_t>(parts) : 0);
  file.set_steps(static_cast<Size>(time_number) + 1);
  file.close();
}

}  // namespace tutti
