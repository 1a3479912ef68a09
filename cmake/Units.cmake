# What makes compiling cheap: precompiled headers, which most of a unit's time would go into, and jumbo units, several small
# sources of one folder compiled as one. Both are for whoever builds the whole; THUNDER_JUMBO=OFF keeps a unit for each
# source, so that a change compiles that source alone, and with THUNDER_PRECOMPILE=OFF a source that forgets an include fails.
option(THUNDER_PRECOMPILE "Precompile the headers that each layer shares" ON)
option(THUNDER_JUMBO "Compile small sources of a folder together" ON)
set(THUNDER_JUMBO_SOURCES 8 CACHE STRING "How many sources of a folder are compiled together")

set(standard_headers <algorithm> <array> <atomic> <bit> <charconv> <cmath> <cstdint> <cstring> <functional> <limits> <map>
    <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <vector>)

# The target has these headers precompiled, beside the standard library's.
function(thunder_precompile target)
  if(NOT THUNDER_PRECOMPILE)
    return()
  endif()
  set(headers ${standard_headers})
  foreach(header ${ARGN})
    list(APPEND headers "\"${header}\"")
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# The target takes the precompiled headers of another one, which is compiled with the same options.
function(thunder_reuse_precompiled target other)
  if(THUNDER_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()

# Sources with options of their own are neither joined with others nor given headers that were precompiled without these options.
function(thunder_own_options)
  cmake_parse_arguments(PARSE_ARGV 0 own "" "" "SOURCES;OPTIONS")
  set_source_files_properties(${own_SOURCES} PROPERTIES COMPILE_OPTIONS "${own_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON
                              SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Joins the sources of each folder in groups. What a file of rows calls kRows is renamed while its unit is compiled.
function(thunder_join_sources target)
  if(NOT THUNDER_JUMBO)
    return()
  endif()
  set(folder "")
  set(count 0)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH parent)
    if(NOT parent STREQUAL folder)
      set(folder ${parent})
      set(count 0)
    endif()
    math(EXPR group "${count} / ${THUNDER_JUMBO_SOURCES}")
    math(EXPR count "${count} + 1")
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE name)
    string(REPLACE "/" "_" name ${name})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_UNIQUE_ID kRows)
endfunction()
