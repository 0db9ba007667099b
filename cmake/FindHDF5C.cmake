# HDF5C::HDF5C, the C library of HDF5. Checkpoints are written by all ranks without MPI-IO (docs/adr), so the serial
# build is taken where there is one; any other does as well.
find_path(HDF5C_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial hdf5 hdf5/openmpi hdf5/mpich)
find_library(HDF5C_LIBRARY NAMES hdf5_serial hdf5 hdf5_openmpi hdf5_mpich)
mark_as_advanced(HDF5C_INCLUDE_DIR HDF5C_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HDF5C REQUIRED_VARS HDF5C_LIBRARY HDF5C_INCLUDE_DIR)
if(HDF5C_FOUND AND NOT TARGET HDF5C::HDF5C)
  add_library(HDF5C::HDF5C UNKNOWN IMPORTED)
  set_target_properties(HDF5C::HDF5C PROPERTIES IMPORTED_LOCATION ${HDF5C_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${HDF5C_INCLUDE_DIR})
endif()
