// The end of a program that has no memory left, wherever that shows: one line and the exit code of resources.
#pragma once

#include <string>

namespace tutti {

/// Watches over the program while it lives. Libraries end a program for lack of memory or threads by exit() (OpenMP,
/// Open MPI), abort() (the C library) or a null pointer (HDF5, MPI), and an exception may leave a destructor or a
/// thread. All of these end it with one line and ErrorKind::resource instead: exit() always, the others where an
/// allocation was refused or the system has no 16 MiB left. Other crashes stay what they are. One at a time.
class LastResort {
 public:
  explicit LastResort(const std::string& program);
  ~LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

  /// From here on the program ends, with this code whatever ends it: for MPI_Abort, which may fail for lack of memory.
  static void let_go(int code);
};

}  // namespace tutti
