// A library to be preloaded (LD_PRELOAD): it keeps what a power cut would leave of a folder. What is on the disk is
// what was made durable: of a file its content at its last fsync, of a folder the names in it at its last fsync.
//
//   POWER_FOLDER  the folder
//   POWER_STORE   where the copies go, on the same disk: "f<inode>" a file's content, "d<inode>" a folder's names, a
//   line
//                 "<inode> <f|d> <name>" each
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

std::string setting(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

bool is_watched(const std::string& path) {
  static const std::string folder = setting("POWER_FOLDER");
  return !folder.empty() && path.rfind(folder, 0) == 0;
}

std::string path_of(int file) {
  char text[4096] = "";
  const ssize_t n = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), text, sizeof(text) - 1);
  return n > 0 ? std::string(text, static_cast<size_t>(n)) : "";
}

std::string stored(char kind, ino_t inode) {
  return setting("POWER_STORE") + "/" + kind + std::to_string(inode);
}

/// A copy appears whole, for the program may be killed at any moment.
void store(const std::string& name, const std::string& content) {
  const std::string temporary = name + "." + std::to_string(getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) std::abort();
  if (std::fwrite(content.data(), 1, content.size(), file) != content.size() || std::fclose(file) != 0) std::abort();
  if (next<int(const char*, const char*)>("rename")(temporary.c_str(), name.c_str()) != 0) std::abort();
}

std::string read_all(int file) {
  const int copy =
      next<int(const char*, int, ...)>("open")(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY);
  std::string content;
  char block[1 << 16];
  for (ssize_t n = read(copy, block, sizeof(block)); n > 0; n = read(copy, block, sizeof(block)))
    content.append(block, static_cast<size_t>(n));
  close(copy);
  return content;
}

std::string names_in(const std::string& folder) {
  std::string names;
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..")
      names += std::to_string(entry->d_ino) + (entry->d_type == DT_DIR ? " d " : " f ") + name + "\n";
  }
  closedir(entries);
  return names;
}

int made_durable(const char* call, int file) {
  const int result = next<int(int)>(call)(file);
  struct stat info {};
  const std::string path = path_of(file);
  if (result != 0 || !is_watched(path) || fstat(file, &info) != 0) return result;
  if (S_ISDIR(info.st_mode)) store(stored('d', info.st_ino), names_in(path));
  if (S_ISREG(info.st_mode)) store(stored('f', info.st_ino), read_all(file));
  return result;
}

/// A name goes, but on the disk it may still be there: its inode must not become another file's.
void keep_inode(const char* path) {
  static std::atomic<int> count{0};
  struct stat info {};
  if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
  const std::string kept = setting("POWER_STORE") + "/kept-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  if (is_watched(std::string(path))) (void)!link(path, kept.c_str());
}

}  // namespace

extern "C" {

int fsync(int file) {
  return made_durable("fsync", file);
}

int fdatasync(int file) {
  return made_durable("fdatasync", file);
}

int rename(const char* from, const char* to) noexcept {
  keep_inode(to);
  return next<int(const char*, const char*)>("rename")(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  keep_inode((path_of(to_folder) + "/" + to).c_str());
  return next<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder, to);
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  if (name[0] != '/') keep_inode((path_of(folder) + "/" + name).c_str());
  return next<int(int, const char*, int)>("unlinkat")(folder, name, flags);
}

int unlink(const char* path) noexcept {
  keep_inode(path);
  return next<int(const char*)>("unlink")(path);
}

int remove(const char* path) noexcept {
  keep_inode(path);
  return next<int(const char*)>("remove")(path);
}

}  // extern "C"
