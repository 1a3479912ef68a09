# The languages that are bound through SWIG, each where its interpreter and headers are found: build/.../languages/NAME is
# what a user puts on that language's path. `thunder_swig` is what all of them link.
#
# A plain interpreter can load what AddressSanitizer instruments when its library comes first: `thunder_preload` begins such
# a command. In such a tree, `ninja languages && ctest -L language`.
set(THUNDER_LANGUAGES "")
find_program(THUNDER_SWIG swig)
if(NOT THUNDER_SWIG OR THUNDER_SANITIZE MATCHES "thread")
  message(STATUS "No swig, or a thread sanitizer: no bindings but C, Lua and Python")
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(thunder_preload "")
if(THUNDER_SANITIZE)
  # The library of C++ too: what catches its exceptions is looked up as the process begins.
  set(libraries "")
  foreach(library libasan.so libstdc++.so.6)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE found
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(APPEND libraries "${found}:")
  endforeach()
  # Interpreters keep memory until they end, virtual machines read address 0 on purpose, and Ruby's threads have signal
  # stacks of their own, which the sanitizer would give back for its.
  set(thunder_preload ${CMAKE_COMMAND} -E env LD_PRELOAD=${libraries}
    ASAN_OPTIONS=detect_leaks=0:handle_segv=0:allow_user_segv_handler=1:use_sigaltstack=0)
endif()
add_custom_target(languages)

set(swig_source ${CMAKE_SOURCE_DIR}/bindings/swig)
set(swig_out ${CMAKE_BINARY_DIR}/languages)
file(GLOB swig_core CONFIGURE_DEPENDS ${swig_source}/core/*.cpp)
file(GLOB swig_interface CONFIGURE_DEPENDS ${swig_source}/core/*.h)
# What is made of the description of the classes.
file(GLOB swig_description CONFIGURE_DEPENDS ${swig_source}/emit/*.py ${CMAKE_SOURCE_DIR}/include/*.h
     ${CMAKE_SOURCE_DIR}/include/thunder/*.h)
list(APPEND swig_description ${swig_source}/generate.py ${CMAKE_SOURCE_DIR}/bindings/classes.api)
set(swig_made ${swig_out}/core)
set(swig_classes ${swig_made}/classes.h ${swig_made}/classes.i ${swig_made}/classes.cpp)
add_custom_command(OUTPUT ${swig_classes}
  COMMAND ${Python3_EXECUTABLE} ${swig_source}/generate.py core ${swig_made} DEPENDS ${swig_description} VERBATIM)
add_custom_target(thunder_swig_classes DEPENDS ${swig_classes})
list(APPEND swig_interface ${swig_source}/thunder.i ${swig_classes})
add_library(thunder_swig STATIC ${swig_core} ${swig_made}/classes.cpp)
add_dependencies(thunder_swig thunder_swig_classes)
target_include_directories(thunder_swig PUBLIC ${swig_source}/core ${swig_made})
target_link_libraries(thunder_swig PRIVATE thunder_flags PUBLIC thunder PkgConfig::CJSON)

# Where a folder of build/.../languages is installed; what was not built is left out.
function(thunder_swig_destination result folder)
  file(RELATIVE_PATH inside ${swig_out} ${folder})
  set(${result} ${CMAKE_INSTALL_LIBDIR}/thunder/languages/${inside} PARENT_SCOPE)
endfunction()
function(thunder_swig_install folder)
  thunder_swig_destination(destination ${folder})
  install(FILES ${ARGN} DESTINATION ${destination} OPTIONAL)
endfunction()

# thunder_swig_wrap(NAME OUTDIR EXTENSION SWIG_ARGUMENT...): sets ${NAME}_wrap to the wrapper that swig writes. Files of the
# language that it writes beside go to OUTDIR.
function(thunder_swig_wrap name outdir extension)
  set(wrap ${swig_out}/wrap/${name}.${extension})
  set(interface ${swig_source}/${name}/thunder.i)
  file(MAKE_DIRECTORY ${outdir} ${swig_out}/wrap)
  add_custom_command(OUTPUT ${wrap}
    COMMAND ${THUNDER_SWIG} -c++ ${ARGN} -I${swig_source} -I${swig_source}/core -I${swig_made} -outdir ${outdir} -o ${wrap} ${interface}
    DEPENDS ${interface} ${swig_interface} COMMENT "swig ${name}" VERBATIM)
  set(${name}_wrap ${wrap} PARENT_SCOPE)
endfunction()

# thunder_swig_module(NAME FOLDER FILE INCLUDE...): the wrapper as a module that the language loads from FOLDER/FILE.
function(thunder_swig_module name folder file)
  add_library(thunder_swig_${name} MODULE ${${name}_wrap})
  target_include_directories(thunder_swig_${name} SYSTEM PRIVATE ${ARGN})
  target_compile_options(thunder_swig_${name} PRIVATE -w) # generated
  target_link_libraries(thunder_swig_${name} PRIVATE thunder_swig)
  set_target_properties(thunder_swig_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${file} LIBRARY_OUTPUT_DIRECTORY ${folder})
  add_dependencies(languages thunder_swig_${name})
  thunder_swig_destination(destination ${folder})
  file(RELATIVE_PATH up /${destination} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(thunder_swig_${name} PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
  install(TARGETS thunder_swig_${name} LIBRARY DESTINATION ${destination} OPTIONAL)
  set(THUNDER_LANGUAGES ${THUNDER_LANGUAGES} ${name} PARENT_SCOPE)
endfunction()

# thunder_swig_files(NAME FOLDER FILE...): files of the language, with the described classes filled in.
function(thunder_swig_files name folder)
  set(filled ${swig_out}/wrap/${name}.filled)
  add_custom_command(OUTPUT ${filled}
    COMMAND ${Python3_EXECUTABLE} ${swig_source}/generate.py layer ${name} ${folder} ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E touch ${filled}
    DEPENDS ${ARGN} ${swig_description} VERBATIM)
  add_custom_target(thunder_swig_${name}_files ALL DEPENDS ${filled})
  add_dependencies(languages thunder_swig_${name}_files)
endfunction()

# thunder_swig_ops(NAME WHAT FILE): the ops as source text, for languages that must know them before they run.
function(thunder_swig_ops what file)
  add_custom_command(OUTPUT ${file}
    COMMAND ${thunder_preload} ${Python3_EXECUTABLE} ${swig_source}/generate.py ops $<TARGET_FILE:thunder> ${what} ${file}
    DEPENDS thunder ${swig_source}/generate.py ${swig_source}/emit/ops.py VERBATIM)
endfunction()

# What a command prints, or "" when it fails.
function(thunder_ask result)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(answer "")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

set(swig_missing "")
set(language_tests ${CMAKE_SOURCE_DIR}/tests/languages)
set(language_examples ${CMAKE_SOURCE_DIR}/examples/languages)
# A language that is found sets program_X, the command that runs FOLDER/NAME.extension_X; folder_X if it is not that of the
# tests, and except_X when it cannot hold what a line of the smoke program shows.
foreach(language ruby perl tcl php java csharp go r octave)
  include(${CMAKE_SOURCE_DIR}/cmake/languages/${language}.cmake)
  if(NOT language IN_LIST THUNDER_LANGUAGES)
    list(APPEND swig_missing ${language})
  endif()
endforeach()
list(JOIN THUNDER_LANGUAGES " " swig_found)
list(JOIN swig_missing " " swig_missing)
message(STATUS "Languages through SWIG: ${swig_found}; not found (tools/setup languages languages-heavy): ${swig_missing}")
