# thunder_flags: the options that every target of ours is compiled with.

add_library(thunder_flags INTERFACE)
target_compile_options(thunder_flags INTERFACE -Wall -Wextra -Wpedantic)
# Results must not depend on what the compiler contracts; errno after a math function is never read.
target_compile_options(thunder_flags INTERFACE -fno-math-errno -ffp-contract=off)

if(THUNDER_DEV)
  target_compile_options(thunder_flags INTERFACE -Werror)
  target_compile_definitions(thunder_flags INTERFACE THUNDER_DEV=1)
endif()

if(THUNDER_SANITIZE)
  target_compile_options(thunder_flags INTERFACE -fsanitize=${THUNDER_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(thunder_flags INTERFACE -fsanitize=${THUNDER_SANITIZE})
  if(THUNDER_SANITIZE MATCHES "undefined")
    target_compile_options(thunder_flags INTERFACE -fno-sanitize-recover=undefined)
    # With these checks GCC 12 no longer takes "a function's address is not null" as a constant, which declarations of
    # operations are checked by. AddressSanitizer reports null pointers all the same.
    target_compile_options(thunder_flags INTERFACE -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  endif()
endif()

# Two checkouts at different places make equal objects, and so share one compiler cache. ccache turns paths
# below the base into relative ones; the last map catches those. A debugger started at the top finds the sources.
file(RELATIVE_PATH up ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
target_compile_options(thunder_flags INTERFACE
  -fdebug-prefix-map=${CMAKE_BINARY_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}/=
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${up}=)
# It also knows a unit by the precompiled header that the unit takes, which the preprocessor then has to name.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(thunder_flags INTERFACE -fpch-preprocess)
endif()
# Times of headers count: what was compiled while a header was edited is not kept under the header's new contents.
find_program(THUNDER_CCACHE ccache)
if(THUNDER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${THUNDER_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

