# Writes the names of the prims that the rows in FOLDER declare, sorted, for core/ir/prim.h: cmake -DOUT=prims.inc -DFOLDER=core/ops/defs -P
# Prims.cmake
cmake_minimum_required(VERSION 3.25)
file(GLOB sources ${FOLDER}/*.cpp)
set(names "")
foreach(source ${sources})
  file(STRINGS ${source} lines REGEX "\"prims\\.[a-z0-9_]+\\(")
  list(TRANSFORM lines REPLACE ".*\"prims\\.([a-z0-9_]+)\\(.*" "\\1")
  list(APPEND names ${lines})
endforeach()
list(SORT names)
list(TRANSFORM names REPLACE "(.+)" "THUNDER_PRIM(\\1)")
list(JOIN names "\n" text)
file(CONFIGURE OUTPUT ${OUT} CONTENT "${text}\n" @ONLY)  # touched only where it differs
