#include "tutti/mesh/files/file_bytes.hpp"

#include <new>

#include "tutti/base/error.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/base/system/machine_limits.hpp"

namespace tutti {

FileBytes::FileBytes(const std::filesystem::path& path, const char* what) {
  const InputFile file(path, what);
  const auto size = static_cast<std::size_t>(file.size());
  // Memory that the system promises but has not would end the program while it is filled, without a word.
  if (const Size most = read_machine_limits().available; file.size() > most)
    fail(ErrorKind::resource,
         "{}: the file has {} bytes, and {} bytes of memory are left; use a machine with more memory", path.string(),
         size, most);
  try {
    // Never without an address, even when the file is empty.
    bytes_ = std::make_unique_for_overwrite<char[]>(size + 1);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}: no memory for the file's {} bytes; use a machine with more memory", path.string(),
         size);
  }
  size_ = file.read({bytes_.get(), size}, 0);
}

}  // namespace tutti
