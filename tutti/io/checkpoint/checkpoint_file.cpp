#include "tutti/io/checkpoint/checkpoint_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/io/checkpoint/checkpoint_header.hpp"
#include "tutti/io/hdf5_handle_internal.hpp"

namespace tutti {

using hdf5::Handle;

namespace {

[[noreturn]] void fail_to_write(const std::filesystem::path& path, Size bytes, const std::string& cause) {
  ::unlink(path.c_str());
  fail(ErrorKind::io, "{}: a checkpoint of {} bytes cannot be written: {}; free space or write elsewhere with -o",
       path.string(), bytes, cause);
}

Handle make_dataset(hid_t file, const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  const Handle options(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  H5Pset_layout(options.get(), H5D_CONTIGUOUS);
  // The place in the file is fixed now, and nobody fills it before its owner does.
  H5Pset_alloc_time(options.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(options.get(), H5D_FILL_TIME_NEVER);
  return {H5Dcreate2(file, name.c_str(), type, space.get(), links.get(), options.get(), H5P_DEFAULT), H5Dclose};
}

bool write_text(hid_t file, const char* name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), std::max<std::size_t>(text.size(), 1));
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle set(H5Dcreate2(file, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  return set.valid() && H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0 && set.close();
}

/// A file that this process made, and nobody before: HDF5 by itself would take one that is there, or follow a link.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path) : file_(create_file(path)) {}
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  bool valid() const { return file_ >= 0; }
  /// The open file itself, whatever its name leads to by now.
  std::string name() const { return fmt::format("/proc/self/fd/{}", file_); }
  Size size() const { return ::lseek(file_, 0, SEEK_END); }
  /// Reserves the disk space, so that a full disk shows here and not in the middle. 0 or errno.
  int reserve(Size bytes) const {
    const int cause = ::fallocate(file_, 0, 0, bytes) == 0 ? 0 : errno;
    return cause == EOPNOTSUPP || cause == ENOSYS ? 0 : cause;  // then writing will tell
  }
  /// 0 or errno.
  int close() { return ::close(std::exchange(file_, -1)) == 0 ? 0 : errno; }

 private:
  int file_;
};

Size array_bytes(const CheckpointFrame& frame) {
  Size bytes = frame.rows() * static_cast<Size>(sizeof(Gid));
  for (const CheckpointField& f : frame.fields)
    bytes += frame.rows() * f.components * static_cast<Size>(sizeof(double));
  return bytes;
}

}  // namespace

std::string hdf5_version() {
  hdf5::start();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

CheckpointPlaces create_checkpoint_file(const std::filesystem::path& path, const CheckpointFrame& frame) {
  hdf5::start();
  const Size expected = array_bytes(frame);
  const auto check = [&](bool good) {
    if (!good) fail_to_write(path, expected, hdf5::cause());
  };
  CheckpointPlaces places;
  ::unlink(path.c_str());  // left by a run that was killed, or a link to another place
  NewFile made(path);
  if (!made.valid()) fail_to_write(path, expected, std::strerror(errno));
  {
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_userblock(creation.get(), static_cast<hsize_t>(checkpoint_header_bytes));
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
    // Arrays begin at whole disk sectors; the header must be a multiple of it.
    H5Pset_alignment(access.get(), 65536, 512);
    Handle file(H5Fcreate(made.name().c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose);
    check(file.valid());
    check(write_text(file.get(), "meta", frame.meta));

    const auto rows = static_cast<hsize_t>(frame.rows());
    {
      Handle begin = make_dataset(file.get(), "rows/part_begin", H5T_STD_I64LE, {frame.part_begin.size()});
      check(begin.valid() &&
            H5Dwrite(begin.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, frame.part_begin.data()) >= 0);
    }
    const auto add = [&](const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
      const Handle set = make_dataset(file.get(), name, type, shape);
      check(set.valid());
      const haddr_t offset = H5Dget_offset(set.get());
      check(rows == 0 || offset != HADDR_UNDEF);
      return rows == 0 ? Size{0} : static_cast<Size>(offset);
    };
    places.global = add("rows/global", H5T_STD_I64LE, {rows});
    for (const CheckpointField& f : frame.fields)
      places.field_begins.push_back(
          add("fields/" + f.name, H5T_IEEE_F64LE, {rows, static_cast<hsize_t>(f.components)}));
    check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0);
    hsize_t size = 0;
    check(H5Fget_filesize(file.get(), &size) >= 0);
    places.file_bytes = static_cast<Size>(size);
    check(file.close());
  }
  // An array's description is written when its handle is closed; the checksums would protect what is missing.
  check(!hdf5::any_failed());
  places.file_bytes = made.size();
  if (places.file_bytes < 0) fail_to_write(path, expected, std::strerror(errno));
  int cause = made.reserve(places.file_bytes);
  if (cause == 0) cause = made.close();
  if (cause != 0) fail_to_write(path, expected, std::strerror(cause));
  return places;
}

}  // namespace tutti
