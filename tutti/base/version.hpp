// Which tutti this is, for what its results came from.
#pragma once

namespace tutti {

/// As in CMakeLists.txt: "0.2.0".
const char* version();
/// The commit of the sources when they were configured, "-modified" behind it where files differed from it; "unknown"
/// outside of a git checkout.
const char* commit();
/// The CUDA compiler's version, or "none".
const char* cuda_version();

}  // namespace tutti
