# tutti_kernels(FILE.cu ...): marks files of kernels: CUDA where tutti has CUDA, plain C++ where it has not. Call it in
# the folder of the target that the files belong to.
function(tutti_kernels)
  if(NOT TUTTI_HAVE_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
  endif()
endfunction()
