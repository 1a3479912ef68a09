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
  set_source_files_properties(${own_SOURCES} PROPERTIES COMPILE_OPTIONS "${own_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# Writes a unit that includes the sources, by paths that do not depend on where the checkout is, so that ccache knows it in another
# one. What a file of rows calls kRows has another name in each.
function(thunder_write_unit unit)
  cmake_path(GET unit PARENT_PATH folder)
  set(text "")
  set(number 0)
  foreach(source ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${folder})
    string(APPEND text "#define kRows kRows_${number}\n#include \"${source}\"\n#undef kRows\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
endfunction()

# Replaces the sources in the list by units of several sources of one folder each.
function(thunder_join_sources list)
  if(NOT THUNDER_JUMBO)
    return()
  endif()
  set(all ${${list}})
  set(units "")
  set(folders ${all})
  list(TRANSFORM folders REPLACE "/[^/]*$" "")
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    set(rest ${all})
    list(FILTER rest INCLUDE REGEX "^${folder}/[^/]*$")
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(REPLACE "/" "_" name ${folder})
    set(number 0)
    while(rest)
      list(SUBLIST rest 0 ${THUNDER_JUMBO_SOURCES} group)
      list(REMOVE_ITEM rest ${group})
      set(unit ${CMAKE_BINARY_DIR}/units/${name}_${number}.cpp)
      thunder_write_unit(${unit} ${group})
      list(APPEND units ${unit})
      math(EXPR number "${number} + 1")
    endwhile()
  endforeach()
  set(${list} ${units} PARENT_SCOPE)
endfunction()
