// How the sanitizers behave in the tests, whoever starts them. Linked into every program of the tests in such a build.
// ASAN_OPTIONS and TSAN_OPTIONS of the environment still count more.

#if defined(__SANITIZE_THREAD__) || defined(__clang__)  // clang has no such macro
#include <dlfcn.h>

namespace {
// Open MPI loads this library through a plugin, and MPI_Finalize unloads it. ThreadSanitizer ends a program with an
// error when a library of its suppressions goes, so it stays. Where it is not installed there is nothing to hold.
[[maybe_unused]] void* const held = ::dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NODELETE);
}  // namespace
#endif

// The names are the sanitizers'.
extern "C" {

const char* __asan_default_options();   // NOLINT
const char* __ubsan_default_options();  // NOLINT
const char* __tsan_default_options();   // NOLINT

/// Open MPI and its plugins keep memory until the end of the process; the fuzz targets look for leaks of tutti.
const char* __asan_default_options() {  // NOLINT
  return "detect_leaks=0";
}

const char* __ubsan_default_options() {  // NOLINT
  return "print_stacktrace=1";
}

const char* __tsan_default_options() {  // NOLINT
#if defined(__clang__)
  // LLVM's OpenMP is seen through Archer only.
  return "ignore_noninstrumented_modules=1:suppressions=" TUTTI_TSAN_SUPPRESSIONS;
#else
  return "suppressions=" TUTTI_TSAN_SUPPRESSIONS;
#endif
}

}  // extern "C"
