# capi/abi.symbols lists the exported names, one a line, # starts a comment. Here it becomes a version script;
# the test `abi` compares it with what the library really exports.
set(symbols ${CMAKE_SOURCE_DIR}/capi/abi.symbols)
if(EXISTS ${symbols})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbols})
  file(STRINGS ${symbols} names REGEX "^[a-zA-Z_]")
  list(TRANSFORM names REPLACE "^([a-zA-Z0-9_]+).*$" "\\1")
  thunder_write_list(abi.inc THUNDER_SYMBOL ${names})  # for the tests that call each function
  list(JOIN names ";\n    " names)
  set(script ${CMAKE_BINARY_DIR}/generated/thunder.map)
  file(CONFIGURE OUTPUT ${script} @ONLY
       CONTENT "THUNDER_${THUNDER_ABI_VERSION} {\n  global:\n    ${names};\n  local:\n    *;\n};\n")
  target_link_options(thunder PRIVATE LINKER:--version-script=${script})
  set_property(TARGET thunder APPEND PROPERTY LINK_DEPENDS ${script})
endif()
