# The Python package in the build tree: with build/.../python on PYTHONPATH, `import thunder` finds it. pip builds its own
# extension from the same files (bindings/python/setup.py).
#
# THUNDER_PYTHON is the first interpreter that has numpy and the headers of its own C interface.
set(probe [[
import numpy, os, sysconfig
include = sysconfig.get_paths()["include"]
assert os.path.exists(os.path.join(include, "Python.h"))
print(include, sysconfig.get_config_var("EXT_SUFFIX"), sep=";", end="")
]])
function(thunder_is_python result candidate)
  execute_process(COMMAND ${candidate} -c "${probe}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_program(THUNDER_PYTHON NAMES python3 VALIDATOR thunder_is_python)
if(NOT THUNDER_PYTHON)
  message(STATUS "No python3 with numpy and its headers (python3-numpy, python3-dev): no Python package here")
  return()
endif()
execute_process(COMMAND ${THUNDER_PYTHON} -c "${probe}" OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
list(GET found 0 python_include)
list(GET found 1 python_suffix)

set(python_package ${CMAKE_BINARY_DIR}/python/thunder)
file(GLOB python_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bindings/python/src/*.c)
add_library(thunder_python MODULE ${python_sources})
target_include_directories(thunder_python SYSTEM PRIVATE ${python_include})
target_link_libraries(thunder_python PRIVATE thunder_flags thunder)
# Python's tables cast functions to one type, and to pointers to void, and its types of functions have parameters that many have no
# use for. Of a source, to come after thunder_flags.
set_source_files_properties(${python_sources} PROPERTIES COMPILE_OPTIONS "-Wno-cast-function-type;-Wno-pedantic;-Wno-unused-parameter")
set_target_properties(thunder_python PROPERTIES PREFIX "" OUTPUT_NAME _thunder SUFFIX ${python_suffix}
                      LIBRARY_OUTPUT_DIRECTORY ${python_package})

set(python_copied ${CMAKE_BINARY_DIR}/python/copied)
set(python_files "")
set(python_copies "")
foreach(folder "" /distributions /parallel /torch /torch/aten)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bindings/python/thunder${folder}/*.py)
  list(APPEND python_files ${files})
  list(APPEND python_copies COMMAND ${CMAKE_COMMAND} -E make_directory ${python_package}${folder}
                            COMMAND ${CMAKE_COMMAND} -E copy_if_different ${files} ${python_package}${folder})
endforeach()
add_custom_command(OUTPUT ${python_copied}
  ${python_copies}
  COMMAND ${CMAKE_COMMAND} -E touch ${python_copied}
  DEPENDS ${python_files} VERBATIM)
add_custom_target(thunder_python_files ALL DEPENDS ${python_copied})

# Type stubs, from the registry that the package sees. A plain interpreter cannot load what a sanitizer instruments.
if(NOT THUNDER_SANITIZE)
  file(GLOB python_stubs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bindings/python/stubs/*.py)
  set(python_stubbed ${CMAKE_BINARY_DIR}/python/stubbed)
  add_custom_command(OUTPUT ${python_stubbed}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1
            ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/bindings/python/stubs/generate.py ${python_package}
    COMMAND ${CMAKE_COMMAND} -E touch ${python_stubbed}
    DEPENDS thunder_python thunder ${python_copied} ${python_stubs} VERBATIM)
  add_custom_target(thunder_python_stubs ALL DEPENDS ${python_stubbed})
endif()
