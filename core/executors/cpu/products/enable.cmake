# GCC 12 takes its own header's undefined vectors for ones that are not initialised.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(quiet -mprefer-vector-width=512 -O2 -Wno-uninitialized -Wno-maybe-uninitialized)
  thunder_own_options(SOURCES ${CMAKE_CURRENT_LIST_DIR}/amx.cpp
    OPTIONS -mavx512f -mavx512bw -mavx512vl -mamx-tile -mamx-bf16 ${quiet})
  thunder_own_options(SOURCES ${CMAKE_CURRENT_LIST_DIR}/bf16_dot.cpp
    OPTIONS -mavx512f -mavx512bw -mavx512vl -mavx512bf16 -mfma ${quiet})
endif()
