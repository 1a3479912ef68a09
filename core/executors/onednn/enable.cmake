# The kernels for machines that have more than the baseline; what runs is chosen when the library is opened. Sums may be
# contracted here: these kernels are no reference.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(kernels ${CMAKE_CURRENT_LIST_DIR})
  set_source_files_properties(${kernels}/kernel_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=fast;-O2")
  set_source_files_properties(${kernels}/kernel_avx512.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mfma;-mprefer-vector-width=512;-ffp-contract=fast;-O2")
endif()
