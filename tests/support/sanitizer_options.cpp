// How the sanitizers behave in the tests, whoever starts them. Linked into every program of the tests in such a build.
// ASAN_OPTIONS and TSAN_OPTIONS of the environment still count more.

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
