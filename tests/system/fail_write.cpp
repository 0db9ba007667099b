// A library to be preloaded (LD_PRELOAD): it lets chosen calls that write fail, as a broken or full disk does.
//
//   FAIL_PATH   only files whose path contains this text
//   FAIL_AT     the k-th such call fails, from 1
//   FAIL_ERRNO  with this error number; 0: writes take only half of the bytes, every time
//   FAIL_BYTES  instead of FAIL_AT: the disk is full after so many bytes
//   FAIL_RANK   only in this rank of mpirun
//   FAIL_LOG    what failed is written here: one line "<call> <path>"
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtol(text, nullptr, 10) : otherwise;
}

bool this_rank() {
  const long wanted = setting("FAIL_RANK", -1);
  if (wanted < 0) return true;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return setting(name, -1) == wanted;
  return false;
}

bool is_chosen(const char* path) {
  static const char* part = std::getenv("FAIL_PATH");
  static const bool rank = this_rank();
  return part != nullptr && rank && path != nullptr && std::strstr(path, part) != nullptr;
}

struct Path {
  explicit Path(int file) {
    char link[64];
    std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    const ssize_t n = readlink(link, text, sizeof(text) - 1);
    if (n > 0) text[n] = 0;
  }
  char text[4096] = "";
};

void note(const char* call, const char* path) {
  const char* log = std::getenv("FAIL_LOG");
  if (log == nullptr) return;
  char line[4200];
  const int n = std::snprintf(line, sizeof(line), "%s %s\n", call, path);
  const int file = next<int(const char*, int, ...)>("open")(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  if (n > 0) (void)!next<ssize_t(int, const void*, size_t)>("write")(file, line, static_cast<size_t>(n));
  next<int(int)>("close")(file);
}

/// Is it this call's turn? Then errno is set.
bool fails(const char* call, const char* path) {
  static const long at = setting("FAIL_AT", 0);
  static const int error = static_cast<int>(setting("FAIL_ERRNO", EIO));
  static std::atomic<long> count{0};
  if (at == 0 || error == 0 || !is_chosen(path) || ++count != at) return false;
  note(call, path);
  errno = error;
  return true;
}

/// How many of `bytes` are taken; -1: none, and errno is set.
ssize_t taken(const char* call, int file, size_t bytes) {
  const Path path(file);
  if (fails(call, path.text)) return -1;
  if (!is_chosen(path.text)) return static_cast<ssize_t>(bytes);
  static const bool halves = setting("FAIL_ERRNO", EIO) == 0;
  if (halves && bytes > 1) return static_cast<ssize_t>(bytes / 2);
  static const long capacity = setting("FAIL_BYTES", -1);
  static std::atomic<long> used{0};
  if (capacity < 0) return static_cast<ssize_t>(bytes);
  const long room = capacity - used.fetch_add(static_cast<long>(bytes));
  if (room >= static_cast<long>(bytes)) return static_cast<ssize_t>(bytes);
  note(call, path.text);
  if (room > 0) return room;  // a full disk takes what still fits
  errno = ENOSPC;
  return -1;
}

int open_file(const char* name, const char* path, int flags, mode_t mode) {
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY)) != 0 && fails("open", path)) return -1;
  return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

/// A name in an open folder.
Path path_in(int folder, const char* name) {
  Path path(folder);
  if (name[0] == '/' || folder == AT_FDCWD) path.text[0] = 0;
  const size_t used = std::strlen(path.text);
  std::snprintf(path.text + used, sizeof(path.text) - used, "%s%s", used > 0 ? "/" : "", name);
  return path;
}

int open_in(const char* call, int folder, const char* name, int flags, mode_t mode) {
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY)) != 0 && fails("open", path_in(folder, name).text))
    return -1;
  return next<int(int, const char*, int, ...)>(call)(folder, name, flags, mode);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file("open64", path, flags, mode);
}

// What open() becomes where the library checks its arguments (_FORTIFY_SOURCE).
int __open_2(const char* path, int flags) {
  return open_file("open", path, flags, 0);
}
int __open64_2(const char* path, int flags) {
  return open_file("open64", path, flags, 0);
}

ssize_t write(int file, const void* bytes, size_t count) {
  const ssize_t n = taken("write", file, count);
  return n < 0 ? n : next<ssize_t(int, const void*, size_t)>("write")(file, bytes, static_cast<size_t>(n));
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  const ssize_t n = taken("pwrite", file, count);
  return n < 0 ? n
               : next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(file, bytes, static_cast<size_t>(n), offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  const ssize_t n = taken("pwrite", file, count);
  return n < 0 ? n
               : next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(file, bytes, static_cast<size_t>(n),
                                                                              offset);
}

int fsync(int file) {
  return fails("fsync", Path(file).text) ? -1 : next<int(int)>("fsync")(file);
}

int ftruncate(int file, off_t length) noexcept {
  return fails("ftruncate", Path(file).text) ? -1 : next<int(int, off_t)>("ftruncate")(file, length);
}

int ftruncate64(int file, off64_t length) noexcept {
  return fails("ftruncate", Path(file).text) ? -1 : next<int(int, off64_t)>("ftruncate64")(file, length);
}

int fallocate(int file, int mode, off_t offset, off_t length) {
  return fails("fallocate", Path(file).text)
             ? -1
             : next<int(int, int, off_t, off_t)>("fallocate")(file, mode, offset, length);
}

int fallocate64(int file, int mode, off64_t offset, off64_t length) {
  return fails("fallocate", Path(file).text)
             ? -1
             : next<int(int, int, off64_t, off64_t)>("fallocate64")(file, mode, offset, length);
}

/// A close that fails has closed the file all the same. Files that were only read do not count.
int close(int file) {
  const int flags = fcntl(file, F_GETFL);
  const bool failing = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fails("close", Path(file).text);
  const int result = next<int(int)>("close")(file);
  if (!failing) return result;
  errno = static_cast<int>(setting("FAIL_ERRNO", EIO));
  return -1;
}

int rename(const char* from, const char* to) noexcept {
  return fails("rename", from) ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}

int openat(int folder, const char* name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_in("openat", folder, name, flags, mode);
}

int openat64(int folder, const char* name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_in("openat64", folder, name, flags, mode);
}

int __openat_2(int folder, const char* name, int flags) {
  return open_in("openat", folder, name, flags, 0);
}
int __openat64_2(int folder, const char* name, int flags) {
  return open_in("openat64", folder, name, flags, 0);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return fails("rename", path_in(from_folder, from).text)
             ? -1
             : next<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder, to);
}

int mkdirat(int folder, const char* name, mode_t mode) noexcept {
  return fails("mkdir", path_in(folder, name).text)
             ? -1
             : next<int(int, const char*, mode_t)>("mkdirat")(folder, name, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  return fails("mkdir", path) ? -1 : next<int(const char*, mode_t)>("mkdir")(path, mode);
}

}  // extern "C"
