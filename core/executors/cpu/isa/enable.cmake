# avx2.cpp and avx512.cpp are for machines that have more than the baseline, neon.cpp for every AArch64; what runs is chosen when the
# program starts. Multiplications and additions may be contracted there: these kernels are no reference.
thunder_own_options(SOURCES ${CMAKE_CURRENT_LIST_DIR}/neon.cpp OPTIONS -ffp-contract=fast -O2)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  thunder_own_options(SOURCES ${CMAKE_CURRENT_LIST_DIR}/avx2.cpp OPTIONS -mavx2 -mfma -mf16c -ffp-contract=fast -O2)
  thunder_own_options(SOURCES ${CMAKE_CURRENT_LIST_DIR}/avx512.cpp
    OPTIONS -mavx512f -mavx512vl -mfma -mprefer-vector-width=512 -ffp-contract=fast -O2)
endif()
