// The HDF5 library on a FileEdit. Inside the io floor only.
#pragma once

#include "tutti/base/system/file_edit.hpp"
#include "tutti/io/hdf5_handle_internal.hpp"

namespace tutti::hdf5 {

/// For H5Fcreate and H5Fopen, whatever name they are given: the library reads and writes through `edit`, which has to
/// outlive the open file. After hdf5::start().
Handle access_through(FileEdit& edit);

}  // namespace tutti::hdf5
