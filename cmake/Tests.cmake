# One gtest executable for each folder of tests/core and one for tests/capi (linking is what costs), each a
# single CTest test labelled with its folder. Tests run in tests/, so golden files are "golden/...".
find_package(GTest REQUIRED)

# The tests that ./check also runs under sanitizers: `cmake --build --preset asan --target asan-sample`. They are
# few, because each object is built a second time for them: the battery runs every op and random programs through
# the whole compiler, capi crosses the boundary, tensor reads hostile files.
# The Lua scripts join them: their layer is C, and its errors jump.
set(THUNDER_SANITIZED battery capi core_tensor)
add_custom_target(asan-sample)

# What programs of unit tests share, the headers that most of them include among it: precompiled as an executable's are.
add_library(thunder_test_support STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
target_include_directories(thunder_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR} ${THUNDER_ROOTS})
target_link_libraries(thunder_test_support PUBLIC thunder_flags thunder_static GTest::gtest_main)
# What they test is optimised; they themselves are many and run little.
target_compile_options(thunder_test_support PUBLIC -fPIE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
set_target_properties(thunder_test_support PROPERTIES POSITION_INDEPENDENT_CODE OFF)
thunder_precompile(thunder_test_support gtest/gtest.h jit/reports/explain.h loops/kernels.h support/functions.h tracer/eager.h)

# A program of unit tests.
function(thunder_add_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE thunder_test_support)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  thunder_reuse_precompiled(${name} thunder_test_support)
  if(TARGET thunder_llvm)
    add_dependencies(${name} thunder_llvm)
  endif()
endfunction()

function(thunder_add_unit_tests name folder label)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  list(FILTER sources EXCLUDE REGEX "/loops/llvm/")
  if(NOT sources)
    return()
  endif()
  thunder_add_test_program(${name}_test ${sources})
  add_test(NAME ${name} COMMAND ${name}_test --gtest_brief=1 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT 900)
  if(name IN_LIST THUNDER_SANITIZED)
    add_dependencies(asan-sample ${name}_test)
    set_tests_properties(${name} PROPERTIES LABELS "${label};asan-sample")
  endif()
endfunction()

foreach(layer ${THUNDER_LAYERS})
  thunder_add_unit_tests(core_${layer} core/${layer} ${layer})
endforeach()
add_library(nvtx_stand_in MODULE ${CMAKE_SOURCE_DIR}/tests/support/nvtx_stand_in.c)
target_link_libraries(nvtx_stand_in PRIVATE thunder_flags)
add_dependencies(core_jit_test nvtx_stand_in)
set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/core/jit/watches/ranges_test.cpp PROPERTIES
  COMPILE_DEFINITIONS THUNDER_NVTX_STAND_IN="$<TARGET_FILE:nvtx_stand_in>")
if(TARGET thunder_llvm)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/core/loops/llvm/*_test.cpp)
  add_executable(core_llvm_test ${sources} $<TARGET_OBJECTS:thunder_llvm_objects>)
  target_include_directories(core_llvm_test PRIVATE ${CMAKE_SOURCE_DIR}/tests ${THUNDER_ROOTS})
  target_include_directories(core_llvm_test SYSTEM PRIVATE ${THUNDER_LLVM_INCLUDE})
  target_compile_options(core_llvm_test PRIVATE -fno-rtti -Wno-redundant-move)
  target_link_libraries(core_llvm_test PRIVATE thunder_flags GTest::gtest_main ${THUNDER_LLVM_LIBRARY})
  add_test(NAME core_llvm COMMAND core_llvm_test --gtest_brief=1)
  set_tests_properties(core_llvm PROPERTIES LABELS loops TIMEOUT 300)
endif()
thunder_add_unit_tests(capi capi capi)
thunder_add_unit_tests(battery battery battery)
if(TARGET battery_test)
  file(GLOB battery CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/battery/*.cpp)
  list(FILTER battery EXCLUDE REGEX "_test\\.cpp$")
  target_sources(battery_test PRIVATE ${battery})
endif()

include(Cuda)        # programs on CUDA devices, on any machine
include(Scale)       # programs on several processes, where an MPI is

# Consumers see what a user sees: the installed tree, through pkg-config or as a CMake package, and nothing of the build.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(prefix ${CMAKE_BINARY_DIR}/prefix)
add_test(NAME install COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${prefix})
set_tests_properties(install PROPERTIES FIXTURES_SETUP installed LABELS install)
set(consumer_flags "")
if(THUNDER_SANITIZE)
  set(consumer_flags -fsanitize=${THUNDER_SANITIZE})
endif()
file(GLOB consumers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/*.c ${CMAKE_SOURCE_DIR}/tests/c/*.cpp)
foreach(source ${consumers})
  cmake_path(GET source FILENAME name)
  add_test(NAME consumer_${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/c/consume ${source} ${prefix}
           ${CMAKE_INSTALL_LIBDIR} ${CMAKE_BINARY_DIR}/consumers ${consumer_flags})
  set_tests_properties(consumer_${name} PROPERTIES FIXTURES_REQUIRED installed LABELS consumer TIMEOUT 120
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}"
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
endforeach()
add_test(NAME consumer_cmake COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/c/cmake_page ${CMAKE_SOURCE_DIR}/docs/cpp.md
         ${prefix} ${CMAKE_BINARY_DIR}/consumers/cmake ${consumer_flags})
set_tests_properties(consumer_cmake PROPERTIES FIXTURES_REQUIRED installed LABELS consumer TIMEOUT 120
  ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")

add_test(NAME consumer_c_page COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/c/c_page ${CMAKE_SOURCE_DIR}/tests/c/consume
         ${CMAKE_SOURCE_DIR}/docs/c.md ${prefix} ${CMAKE_INSTALL_LIBDIR} ${CMAKE_BINARY_DIR}/consumers/c_page ${consumer_flags})
set_tests_properties(consumer_c_page PROPERTIES FIXTURES_REQUIRED installed LABELS consumer TIMEOUT 120
  ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")

add_test(NAME threads_many COMMAND ${CMAKE_SOURCE_DIR}/tests/c/consume ${CMAKE_SOURCE_DIR}/tests/c/threads.c ${prefix}
         ${CMAKE_INSTALL_LIBDIR} ${CMAKE_BINARY_DIR}/consumers_many ${consumer_flags})
set_tests_properties(threads_many PROPERTIES FIXTURES_REQUIRED installed LABELS "consumer;slow" TIMEOUT 1800
  ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};THUNDER_THREAD_CALLS=100000"
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)

# Each script runs in our tool and in a stock interpreter. The latter is not built with a sanitizer, so it
# cannot load what is.
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/lua/*.lua)
find_program(THUNDER_STOCK_LUA lua5.4)
set(lua_environment LUA_PATH=${CMAKE_SOURCE_DIR}/tests/lua/?.lua LUA_CPATH=${CMAKE_BINARY_DIR}/lua/?.so)
foreach(script ${scripts})
  cmake_path(GET script STEM name)
  if(TARGET thunder_tool AND TARGET thunder_lua)
    add_test(NAME lua_${name} COMMAND thunder_tool run ${script})
    list(APPEND lua_tests lua_${name})
  endif()
  if(TARGET thunder_lua AND THUNDER_STOCK_LUA AND NOT THUNDER_SANITIZE)
    add_test(NAME stock_lua_${name} COMMAND ${THUNDER_STOCK_LUA} ${script})
    list(APPEND lua_tests stock_lua_${name})
  endif()
endforeach()
# The linker's auditing and sanitizers do not go together.
if(NOT THUNDER_SANITIZE)
  add_library(hide_libraries MODULE ${CMAKE_SOURCE_DIR}/tests/support/hide_libraries.c)
  target_link_libraries(hide_libraries PRIVATE thunder_flags)
  set(hide_libraries $<TARGET_FILE:hide_libraries>)
endif()
if(TARGET thunder_tool AND TARGET thunder_lua)
  add_test(NAME lua_terminal COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/lua/terminal.py
           $<TARGET_FILE:thunder_tool>)
  list(APPEND lua_tests lua_terminal)
  add_test(NAME cli COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/tool.py $<TARGET_FILE:thunder_tool>
           ${CMAKE_SOURCE_DIR}/docs/man/thunder.1 ${hide_libraries})
  add_test(NAME cli_words COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/words.py $<TARGET_FILE:thunder_tool>
           ${CMAKE_SOURCE_DIR}/docs/man/thunder.1)
  add_test(NAME cli_repl COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/repl.py $<TARGET_FILE:thunder_tool>)
  set(stock ${THUNDER_STOCK_LUA})
  if(NOT stock OR THUNDER_SANITIZE)
    set(stock "")
  endif()
  add_test(NAME cli_interrupts COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/interrupts.py
           $<TARGET_FILE:thunder_tool> ${stock})
  add_test(NAME cli_signals COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/signals.py $<TARGET_FILE:thunder_tool>)
  find_program(THUNDER_VALGRIND valgrind)
  set(valgrind ${THUNDER_VALGRIND})
  if(NOT valgrind)
    message(STATUS "No valgrind: the test `cli_export` runs exported programs without it")
    set(valgrind "")
  endif()
  if(TARGET thunder_llvm AND NOT THUNDER_SANITIZE)
    add_test(NAME cli_export COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/export.py $<TARGET_FILE:thunder_tool>
             ${CMAKE_C_COMPILER} ${valgrind})
    set_tests_properties(cli_export PROPERTIES LABELS cli TIMEOUT 120)
  endif()
  set_tests_properties(cli cli_words cli_repl cli_interrupts cli_signals PROPERTIES LABELS cli TIMEOUT 120 ENVIRONMENT "${lua_environment}")
endif()
if(lua_tests)
  set_tests_properties(${lua_tests} PROPERTIES LABELS "lua;asan-sample" TIMEOUT 300 ENVIRONMENT "${lua_environment}"
                       WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  add_dependencies(asan-sample thunder_tool)
endif()

# The Python package. Sanitizers need the whole interpreter built with them.
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/python/*_test.py)
foreach(script ${scripts})
  cmake_path(GET script STEM name)
  if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
    add_test(NAME python_${name} COMMAND ${THUNDER_PYTHON} -X dev ${script})
    set_tests_properties(python_${name} PROPERTIES LABELS python TIMEOUT 300 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests
                         ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  endif()
endforeach()

# torch.compile(backend="thunder"): `./check torch` runs these in an environment that has torch; elsewhere they say so, skipped.
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/torch/*_test.py)
foreach(script ${scripts})
  cmake_path(GET script STEM name)
  if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
    add_test(NAME torch_${name} COMMAND ${THUNDER_PYTHON} ${script})
    set_tests_properties(torch_${name} PROPERTIES LABELS "python;torch" TIMEOUT 900 SKIP_REGULAR_EXPRESSION "OK \\(skipped="
                         ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  endif()
endforeach()

# Random programs through each way of running them, and faults that this must find.
if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
  set(run ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/doors/run)
  add_test(NAME doors COMMAND ${run})
  add_test(NAME doors_faults COMMAND ${run} --faults --programs 400)
  add_test(NAME doors_many COMMAND ${run} --programs 20000 --first 1000 --doors all --jobs 2)
  set(mutations ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/doors/mutations --build ${CMAKE_BINARY_DIR})
  add_test(NAME doors_mutants COMMAND ${mutations} --check)
  add_test(NAME doors_mutations COMMAND ${mutations})
  set_tests_properties(doors doors_faults doors_many doors_mutants doors_mutations PROPERTIES LABELS python TIMEOUT 300
                       ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  set_tests_properties(doors_many doors_mutations PROPERTIES LABELS "python;slow" TIMEOUT 7200)
endif()

# Beside PyTorch's own samples: a drawn share of each sweep, and in the slow tier the whole.
foreach(sweep samples borders writes options programs)
  set(run ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/against_torch/run)
  set(whole --${sweep})
  set(share --${sweep} --share 16 --jobs 1)
  if(sweep STREQUAL "samples")
    set(whole "")
    list(REMOVE_ITEM share --samples)
  elseif(sweep STREQUAL "programs")
    set(whole --programs 3000)
    set(share --programs 25)
  endif()
  if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
    add_test(NAME against_torch_${sweep} COMMAND ${run} ${share})
    add_test(NAME sweep_against_torch_${sweep} COMMAND ${run} ${whole})
    set_tests_properties(against_torch_${sweep} PROPERTIES LABELS "python;peers" TIMEOUT 600)
    set_tests_properties(sweep_against_torch_${sweep} PROPERTIES LABELS slow TIMEOUT 7200)
    set_tests_properties(against_torch_${sweep} sweep_against_torch_${sweep} PROPERTIES SKIP_REGULAR_EXPRESSION "run bench/setup-peers torch")
  endif()
endforeach()

# The record that the tests of layers compare with, against the PyTorch that bench/setup-peers installs, where it did.
set(peers ${CMAKE_SOURCE_DIR}/.venv-peers/bin/python)
if(EXISTS ${peers})
  execute_process(COMMAND ${peers} -c "import numpy, torch" RESULT_VARIABLE no_torch OUTPUT_QUIET ERROR_QUIET)
  if(NOT no_torch)
    add_test(NAME python_layers_pytorch COMMAND ${peers} ${CMAKE_SOURCE_DIR}/tests/python/layers_record.py --check)
    set_tests_properties(python_layers_pytorch PROPERTIES LABELS "python;peers" TIMEOUT 300)
  endif()
endif()

# Imported models beside ONNX Runtime, where an interpreter has it; elsewhere they say that they are skipped. A share of the generated cases runs
# in each check, the whole and onnx's own cases in the tier `slow`.
if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
  set(with_onnx ${THUNDER_PYTHON})
  if(EXISTS ${peers})
    set(with_onnx ${peers})
  endif()
  set(onnx ${CMAKE_SOURCE_DIR}/tests/onnx)
  add_test(NAME onnx_op_cases COMMAND ${with_onnx} ${onnx}/op_cases.py --count 300)
  add_test(NAME onnx_op_cases_compiled COMMAND ${with_onnx} ${onnx}/op_cases.py --count 150 --seed 2 --compiled)
  add_test(NAME onnx_op_cases_all COMMAND ${with_onnx} ${onnx}/op_cases.py --count 5000 --seed 3)
  add_test(NAME onnx_node_cases COMMAND ${with_onnx} ${onnx}/node_cases.py)
  add_test(NAME onnx_examples COMMAND ${with_onnx} ${onnx}/examples.py)
  set(slow onnx_op_cases_all onnx_node_cases onnx_examples)
  set_tests_properties(onnx_op_cases onnx_op_cases_compiled ${slow} PROPERTIES LABELS "python;onnx" TIMEOUT 3600
    SKIP_REGULAR_EXPRESSION "^skipped: "
    ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;THUNDER_TOOL=${CMAKE_BINARY_DIR}/bin/thunder")
  set_tests_properties(${slow} PROPERTIES LABELS "python;onnx;slow")
endif()

# State dicts of other libraries' models, where `bench/setup-peers models` installed those.
set(models ${CMAKE_SOURCE_DIR}/.venv-models/bin/python)
if(EXISTS ${models} AND TARGET thunder_python AND NOT THUNDER_SANITIZE)
  add_test(NAME python_models COMMAND ${models} ${CMAKE_SOURCE_DIR}/tests/python/models_check.py)
  set_tests_properties(python_models PROPERTIES LABELS "python;peers" TIMEOUT 900
                       ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
endif()

# pip into an environment of its own, where what that needs without a network is there.
if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
  execute_process(COMMAND ${THUNDER_PYTHON} -c "import setuptools, wheel, pip, venv, ensurepip" RESULT_VARIABLE no_pip
                  OUTPUT_QUIET ERROR_QUIET)
  if(NOT no_pip)
    add_test(NAME python_install COMMAND ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/install.py
             ${CMAKE_SOURCE_DIR}/bindings/python ${CMAKE_BINARY_DIR} $<TARGET_FILE:hide_libraries>)
    set_tests_properties(python_install PROPERTIES LABELS "python;install" TIMEOUT 300)
  endif()
endif()

# The front page and the tutorials, against what is installed.
if(TARGET thunder_tool AND TARGET thunder_lua AND TARGET thunder_python AND TARGET thunder_llvm AND NOT THUNDER_SANITIZE)
  file(GLOB tutorials CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/tutorials/*.md)
  add_test(NAME tutorials COMMAND ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/pages/tutorials.py $<TARGET_FILE:thunder_tool> ${prefix}
           ${CMAKE_INSTALL_LIBDIR} ${CMAKE_SOURCE_DIR}/README.md ${tutorials})
  set_tests_properties(tutorials PROPERTIES FIXTURES_REQUIRED installed LABELS "python;lua;consumer" TIMEOUT 300
                       ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;CC=${CMAKE_C_COMPILER}")
endif()

# One seed gives one network: nn.init of Lua and Python, to the last bit. The smoke programs below ask the others.
if(TARGET thunder_tool AND TARGET thunder_lua AND TARGET thunder_python AND NOT THUNDER_SANITIZE)
  set(compare ${CMAKE_SOURCE_DIR}/tests/languages/compare.py)
  set(values ${CMAKE_BINARY_DIR}/languages_init.txt)
  add_test(NAME language_init_lua COMMAND Python3::Interpreter ${compare} --write ${values} $<TARGET_FILE:thunder_tool>
           run ${CMAKE_SOURCE_DIR}/tests/languages/init.lua)
  add_test(NAME language_init_python COMMAND Python3::Interpreter ${compare} ${values} ${THUNDER_PYTHON}
           ${CMAKE_SOURCE_DIR}/tests/languages/init.py)
  set_tests_properties(language_init_lua PROPERTIES FIXTURES_SETUP language_init LABELS language)
  set_tests_properties(language_init_python PROPERTIES FIXTURES_REQUIRED language_init LABELS "language;python"
                       ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
endif()

add_test(NAME language_description COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/languages/description_test.py)
set_tests_properties(language_description PROPERTIES LABELS language)

# The same small program in every language that is bound through SWIG prints the same lines, which Lua says.
if(THUNDER_LANGUAGES AND TARGET thunder_tool AND TARGET thunder_lua)
  set(smoke ${CMAKE_BINARY_DIR}/languages/smoke)
  set(digits ${CMAKE_SOURCE_DIR}/examples/digits/data/digits.csv)
  set(compare ${CMAKE_SOURCE_DIR}/tests/languages/compare.py)
  add_test(NAME language_reference COMMAND Python3::Interpreter ${compare} --write ${smoke}.txt $<TARGET_FILE:thunder_tool>
           run ${CMAKE_SOURCE_DIR}/tests/languages/reference.lua ${smoke}.safetensors ${digits})
  set_tests_properties(language_reference PROPERTIES FIXTURES_SETUP language_reference LABELS language TIMEOUT 120)
  file(WRITE ${smoke}_torture.txt "tortured\n")
  # So does the example that trains, where a language has it.
  set(examples ${CMAKE_SOURCE_DIR}/examples/languages)
  add_test(NAME language_example_reference COMMAND Python3::Interpreter ${compare} --write ${smoke}_digits.txt
           $<TARGET_FILE:thunder_tool> run ${examples}/digits.lua ${digits})
  set_tests_properties(language_example_reference PROPERTIES FIXTURES_SETUP language_example LABELS "language;example" TIMEOUT 120)
  foreach(language ${THUNDER_LANGUAGES})
    set(folder ${CMAKE_SOURCE_DIR}/tests/languages)
    if(folder_${language})
      set(folder ${folder_${language}})
    endif()
    set(names smoke torture)
    if(language STREQUAL java) # where a file is named after its class
      set(names Smoke Torture)
    endif()
    list(GET names 0 name)
    add_test(NAME language_${language} COMMAND Python3::Interpreter ${compare} ${except_${language}} ${smoke}.txt
             ${thunder_preload} ${program_${language}} ${folder}/${name}.${extension_${language}} ${smoke}.safetensors ${digits})
    set_tests_properties(language_${language} PROPERTIES FIXTURES_REQUIRED language_reference LABELS language TIMEOUT 120)
    list(GET names 1 name)
    add_test(NAME language_torture_${language} COMMAND Python3::Interpreter ${compare} ${smoke}_torture.txt
             ${thunder_preload} ${program_${language}} ${folder}/${name}.${extension_${language}})
    set_tests_properties(language_torture_${language} PROPERTIES LABELS language TIMEOUT 120)
    set(name digits)
    if(language STREQUAL java)
      set(name Digits)
    endif()
    set(example ${examples}/${name}.${extension_${language}})
    if(folder_${language}) # it is compiled
      set(example ${folder_${language}}/${name}.${extension_${language}})
    endif()
    if((folder_${language} OR EXISTS ${example}) AND NOT language STREQUAL lua) # where it is that of the layer written by hand
      add_test(NAME language_example_${language} COMMAND Python3::Interpreter ${compare} ${smoke}_digits.txt
               ${thunder_preload} ${program_${language}} ${example} ${digits})
      set_tests_properties(language_example_${language} PROPERTIES FIXTURES_REQUIRED language_example
                           LABELS "language;example" TIMEOUT 120)
    endif()
  endforeach()
endif()

# Examples that train, on data that the test makes, and those that extend the compiler: once, and not under sanitizers.
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/examples/*.lua ${CMAKE_SOURCE_DIR}/examples/extend/*.lua)
foreach(script ${scripts})
  cmake_path(GET script STEM name)
  if(TARGET thunder_tool AND TARGET thunder_lua AND NOT THUNDER_SANITIZE)
    add_test(NAME example_${name} COMMAND thunder_tool run ${script})
    set_tests_properties(example_${name} PROPERTIES LABELS example TIMEOUT 300
                         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
    if(name STREQUAL "lengths")  # a thousand of them
      set_tests_properties(example_lengths PROPERTIES LABELS "example;slow" TIMEOUT 1800
                           ENVIRONMENT "THUNDER_CACHE_DIR=${CMAKE_BINARY_DIR}/kernels_of_lengths")
    endif()
  endif()
endforeach()

# In an environment that tools/site makes in the user's cache.
if(TARGET thunder_tool AND TARGET thunder_lua AND NOT THUNDER_SANITIZE)
  add_test(NAME site COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pages/site.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(site PROPERTIES LABELS example TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()

# The page of a report, as a person sees it.
find_program(THUNDER_CHROMIUM NAMES chromium chromium-browser google-chrome)
if(TARGET thunder_tool AND TARGET thunder_lua AND THUNDER_CHROMIUM AND NOT THUNDER_SANITIZE)
  add_test(NAME report_page COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pages/report_page.py $<TARGET_FILE:thunder_tool>
           ${THUNDER_CHROMIUM} ${CMAKE_BINARY_DIR}/report_pages)
  set_tests_properties(report_page PROPERTIES LABELS example TIMEOUT 600)
  add_test(NAME site_browser COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pages/site_browser.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
           ${THUNDER_CHROMIUM})
  set_tests_properties(site_browser PROPERTIES LABELS "example;slow" TIMEOUT 1200 SKIP_RETURN_CODE 77)
endif()

if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
  add_test(NAME example_digits_python COMMAND ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/examples/digits/digits.py)
  set_tests_properties(example_digits_python PROPERTIES LABELS example TIMEOUT 300
                       ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/first_hour/*.py)
  foreach(program ${programs})
    get_filename_component(name ${program} NAME_WE)
    add_test(NAME example_first_hour_${name} COMMAND ${THUNDER_PYTHON} ${program})
    set_tests_properties(example_first_hour_${name} PROPERTIES LABELS example TIMEOUT 300
                         ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()

# What no compiler sees: the layers, sizes, the test mirror, generated files; and the exported names.
if(NOT THUNDER_SANITIZE)
  add_test(NAME tree COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/check --build ${CMAKE_BINARY_DIR})
  add_test(NAME tree_self_test COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/checks/self_test.py)
  add_test(NAME bench_self_test COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/bench/self_test.py)
  set_tests_properties(tree tree_self_test bench_self_test PROPERTIES LABELS tree TIMEOUT 60)
  if(EXISTS ${CMAKE_SOURCE_DIR}/capi/abi.symbols)
    find_program(THUNDER_ABIDIFF abidiff)
    set(names_only --names-only)
    if(THUNDER_ABIDIFF)
      set(names_only "")
      add_test(NAME abi_gate COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/capi/abi_gate.py ${CMAKE_BINARY_DIR})
      set_tests_properties(abi_gate PROPERTIES LABELS capi ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
    else()
      message(STATUS "No abidiff (abigail-tools): the test `abi` compares names alone")
    endif()
    add_test(NAME abi COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/check-abi --build ${CMAKE_BINARY_DIR} ${names_only})
    set_tests_properties(abi PROPERTIES LABELS capi ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
  endif()
endif()

# Signals that arrive for minutes, in each kind of host.
set(minutes "THUNDER_SIGNAL_SECONDS=180")
add_test(NAME signals_c COMMAND ${CMAKE_SOURCE_DIR}/tests/c/consume ${CMAKE_SOURCE_DIR}/tests/c/signals.c ${prefix}
         ${CMAKE_INSTALL_LIBDIR} ${CMAKE_BINARY_DIR}/consumers_many ${consumer_flags})
set_tests_properties(signals_c PROPERTIES FIXTURES_REQUIRED installed LABELS "consumer;slow" TIMEOUT 1800
  ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};${minutes}" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
add_test(NAME signals_core COMMAND core_executors_test --gtest_brief=1 --gtest_filter=Signals.*)
set_tests_properties(signals_core PROPERTIES LABELS "executors;slow" TIMEOUT 1800 ENVIRONMENT "${minutes}")
if(TARGET thunder_tool AND TARGET thunder_lua)
  add_test(NAME signals_cli COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/signals.py $<TARGET_FILE:thunder_tool>)
  set_tests_properties(signals_cli PROPERTIES LABELS "cli;slow" TIMEOUT 1800 ENVIRONMENT "${minutes}")
endif()
if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
  add_test(NAME signals_python COMMAND ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/signals_test.py)
  set_tests_properties(signals_python PROPERTIES LABELS "python;slow" TIMEOUT 1800
                       ENVIRONMENT "${minutes};PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
endif()

# Every allocation fails once, and once and all after: a sample here, the whole in the tier `slow`. It stands in for malloc, as
# sanitizers do, and sees one thread.
if(NOT THUNDER_SANITIZE AND TARGET thunder_lua)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/faults/*.cpp)
  add_executable(fault_sweep ${sources})
  target_include_directories(fault_sweep PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(fault_sweep PRIVATE thunder_flags thunder thunder_lua PkgConfig::LUA)
  add_test(NAME faults_sample COMMAND fault_sweep --points 25 --seed 1)
  add_test(NAME faults_all COMMAND fault_sweep)
  set_tests_properties(faults_sample faults_all PROPERTIES LABELS faults TIMEOUT 300)
  set_tests_properties(faults_all PROPERTIES LABELS "faults;slow" TIMEOUT 7200)
endif()

# What users install, in roots that have nothing else.
if(TARGET thunder_llvm_whole AND TARGET thunder_python)
  add_test(NAME packages COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/package/bare_root.py ${CMAKE_SOURCE_DIR}/tools/package)
  add_test(NAME wheel COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/package/wheel.py ${CMAKE_SOURCE_DIR})
  # One after the other: both build in build/package.
  set_tests_properties(packages wheel PROPERTIES LABELS "install;slow" TIMEOUT 7200 SKIP_REGULAR_EXPRESSION "^skipped: "
                       RESOURCE_LOCK build_package)
endif()

# How a release is made, in a copy of the tree.
if(NOT THUNDER_SANITIZE)
  add_test(NAME release COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/package/release.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(release PROPERTIES LABELS "tree;slow" TIMEOUT 600)
endif()

# The whole suite once more under ThreadSanitizer, in a tree of its own.
if(NOT THUNDER_SANITIZE)
  add_test(NAME thread_sanitizer COMMAND ${CMAKE_SOURCE_DIR}/tests/thread-sanitizer)
  set_tests_properties(thread_sanitizer PROPERTIES LABELS slow TIMEOUT 14400)
endif()

# Many more random programs than the battery's share, on all cores: nearly all of their time goes into kernels.
if(TARGET battery_test AND TARGET thunder_llvm AND NOT THUNDER_SANITIZE)
  add_test(NAME fused_programs COMMAND battery_test --gtest_filter=RandomPrograms.mean_the_same_when_fused
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  set_tests_properties(fused_programs PROPERTIES LABELS battery TIMEOUT 600 COST 1000
    ENVIRONMENT "THUNDER_FUSED_PROGRAMS=3000")
endif()

# Generated inputs, many more than the commit tier tries.
foreach(sweep "capi Metadata 1000000" "capi Misuse 10000" "core_ops Sizes 2000" "core_onnx Mutations 1000000"
              "core_onnx Nodes 1000000" "battery ArgumentPrograms 1000000" "battery SegmentPrograms 3000" "battery PlainNumbers 1"
              "battery NumberOptions 1" "battery All/Engines 1")
  separate_arguments(sweep)
  list(GET sweep 0 program)
  list(GET sweep 1 suite)
  list(GET sweep 2 tries)
  cmake_path(GET suite FILENAME name)
  if(TARGET ${program}_test)
    add_test(NAME sweep_${name} COMMAND ${program}_test --gtest_filter=${suite}.* WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
    set_tests_properties(sweep_${name} PROPERTIES LABELS slow TIMEOUT 3600 ENVIRONMENT "THUNDER_TRIES=${tries};THUNDER_SEED=1000")
  endif()
endforeach()

# Under sanitizers a program takes five times as long, and compiling its kernels, which no sanitizer sees, most of that. Memory that
# cannot be had is a null pointer there too: arguments of all kinds ask for it.
if(TARGET battery_test AND THUNDER_SANITIZE)
  set_tests_properties(battery PROPERTIES ENVIRONMENT
    "THUNDER_BATTERY_SHARE=4;THUNDER_PROGRAMS=40;THUNDER_FUSED_PROGRAMS=10;ASAN_OPTIONS=allocator_may_return_null=1:intercept_tls_get_addr=0")
endif()

# NVIDIA's run-time compiler, where tools/setup-nvrtc has put it.
set(nvrtc ${CMAKE_SOURCE_DIR}/.nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12)
foreach(name core_loops core_executors)
  if(TARGET ${name}_test AND EXISTS ${nvrtc})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT THUNDER_NVRTC=${nvrtc})
  endif()
endforeach()

# Threads for ThreadSanitizer to look at, also on a machine that has one processor. Its allocator gives what the machine has not, and
# tests ask for that: not more than a gigabyte at once, and an end before the machine's.
if(THUNDER_SANITIZE MATCHES "thread")
  get_property(tests DIRECTORY PROPERTY TESTS)
  set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT THUNDER_NUM_THREADS=3
    TSAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:hard_rss_limit_mb=8192)
  set_property(TEST ${tests} PROPERTY TIMEOUT 3600)
endif()

# Kernels that tests compile are kept in the build tree, not in the home of whoever runs them.
get_property(tests DIRECTORY PROPERTY TESTS)
set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT THUNDER_CACHE_DIR=${CMAKE_BINARY_DIR}/kernels)
