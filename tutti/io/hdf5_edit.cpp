// A file driver of the HDF5 library (docs.hdfgroup.org, "HDF5 Virtual File Layer").
#include <algorithm>
#include <limits>
#include <memory>

#include "tutti/io/hdf5_edit_internal.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

namespace tutti::hdf5 {
namespace {

struct Info {
  FileEdit* edit;
};

struct OpenFile : H5FD_t {
  FileEdit* edit = nullptr;
  haddr_t allocated = 0;
};

OpenFile& file_of(H5FD_t* file) {
  return *static_cast<OpenFile*>(file);
}
const OpenFile& file_of(const H5FD_t* file) {
  return *static_cast<const OpenFile*>(file);
}
/// 0, or -1 and the error for hdf5::cause().
herr_t code_of(int cause) {
  if (cause == 0) return 0;
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_NONE_MINOR, "errno = %d", cause);
  return -1;
}

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const Info*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  auto file = std::make_unique<OpenFile>();
  file->edit = info->edit;
  return file.release();
}
herr_t close_file(H5FD_t* file) {
  delete &file_of(file);
  return 0;
}
herr_t query(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
              H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}
haddr_t allocated(const H5FD_t* file, H5FD_mem_t) {
  return file_of(file).allocated;
}
herr_t set_allocated(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  file_of(file).allocated = end;
  return 0;
}
haddr_t size_of(const H5FD_t* file, H5FD_mem_t) {
  return file_of(file).edit->size();
}
herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* to) {
  return code_of(file_of(file).edit->read(at, {static_cast<char*>(to), size}));
}
herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* from) {
  return code_of(file_of(file).edit->write(at, {static_cast<const char*>(from), size}));
}
/// The library takes a file that is shorter than what it has allocated for damaged.
herr_t extend(H5FD_t* file, hid_t, hbool_t) {
  return code_of(file_of(file).edit->extend(file_of(file).allocated));
}

hid_t driver() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t d{};
#if defined(H5FD_CLASS_VERSION)
    d.version = H5FD_CLASS_VERSION;
    d.value = static_cast<H5FD_class_value_t>(600);  // free for one's own drivers: 512 to 65535
#endif
    d.name = "tutti_edit";
    d.maxaddr = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
    d.fc_degree = H5F_CLOSE_WEAK;
    d.fapl_size = sizeof(Info);
    d.open = open_file;
    d.close = close_file;
    d.query = query;
    d.get_eoa = allocated;
    d.set_eoa = set_allocated;
    d.get_eof = size_of;
    d.read = read;
    d.write = write;
    d.truncate = extend;
    constexpr H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), d.fl_map);
    return d;
  }();
  static const hid_t id = H5FDregister(&driver);
  return id;
}

}  // namespace

Handle access_through(FileEdit& edit) {
  const Info info{&edit};
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_driver(access.get(), driver(), &info);
  return access;
}

}  // namespace tutti::hdf5
