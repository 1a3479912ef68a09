# avx2.cpp and avx512.cpp are for machines that have more than the baseline, neon.cpp for every AArch64; what runs is chosen when the
# program starts. Multiplications and additions may be contracted there: these kernels are no reference.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/neon.cpp PROPERTIES COMPILE_OPTIONS "-ffp-contract=fast;-O2")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c;-ffp-contract=fast;-O2")
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/avx512.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mfma;-mprefer-vector-width=512;-ffp-contract=fast;-O2")
endif()
