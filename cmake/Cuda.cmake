# Tests of programs on CUDA devices, and the stand-ins for NVIDIA's libraries with which they run on any machine.
set(fake ${CMAKE_BINARY_DIR}/fake_cuda)
file(READ ${CMAKE_SOURCE_DIR}/tests/support/fake_cuda/emulation.h emulation)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/fake_cuda_emulation.inc CONTENT "R\"emulation(${emulation})emulation\"\n" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/fake_cuda/emulation.h)

foreach(library "driver cuda 1" "compiler nvrtc 13" "products cublasLt 13" "graphs cudnn 9" "solver cusolver 12" "blas cublas 13" "collectives nccl 2")
  separate_arguments(library)
  list(GET library 0 source)
  list(GET library 1 name)
  list(GET library 2 version)
  file(GLOB parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/fake_cuda/${source}*.cpp)
  add_library(fake_${name} SHARED ${parts})
  target_include_directories(fake_${name} PRIVATE ${CMAKE_BINARY_DIR}/generated)
  set_target_properties(fake_${name} PROPERTIES OUTPUT_NAME ${name} SOVERSION ${version} CXX_VISIBILITY_PRESET default
                        LIBRARY_OUTPUT_DIRECTORY ${fake} BUILD_RPATH ${fake})
  target_link_libraries(fake_${name} PRIVATE ${CMAKE_DL_LIBS})
endforeach()
target_link_libraries(fake_cublasLt PRIVATE fake_cuda)
target_link_libraries(fake_cudnn PRIVATE fake_cuda)
target_link_libraries(fake_cusolver PRIVATE fake_cuda)
target_link_libraries(fake_cublas PRIVATE fake_cuda)
target_link_libraries(fake_nccl PRIVATE fake_cuda)

file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cuda/*_test.cpp ${CMAKE_SOURCE_DIR}/tests/battery/*.cpp)
list(FILTER sources EXCLUDE REGEX "/battery/[a-z_]*_test\\.cpp$")
thunder_add_test_program(cuda_test ${sources})
# Where a toolkit is installed, what is declared by hand is compared with its headers.
find_path(THUNDER_CUDA_INCLUDE cuda.h PATHS ENV CUDA_HOME PATH_SUFFIXES include PATHS /usr/local/cuda/include)
if(THUNDER_CUDA_INCLUDE)
  target_include_directories(cuda_test SYSTEM PRIVATE ${THUNDER_CUDA_INCLUDE})
endif()
add_dependencies(cuda_test fake_cuda fake_nvrtc fake_cublasLt fake_cudnn fake_cusolver fake_cublas fake_nccl)
set(THUNDER_FAKE_CUDA THUNDER_CUDA_DRIVER=${fake}/libcuda.so.1 THUNDER_NVRTC=${fake}/libnvrtc.so.13 THUNDER_CUBLASLT=${fake}/libcublasLt.so.13
    THUNDER_CUDNN=${fake}/libcudnn.so.9 THUNDER_CUSOLVER=${fake}/libcusolver.so.12 THUNDER_CUBLAS=${fake}/libcublas.so.13
    THUNDER_NCCL=${fake}/libnccl.so.2)
add_test(NAME cuda COMMAND cuda_test --gtest_brief=1 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
# Kernels of callers from Lua and Python, and garbage of Lua's, on the stand-ins.
if(TARGET thunder_tool AND TARGET thunder_lua AND NOT THUNDER_SANITIZE)
  add_test(NAME cuda_lua_memory COMMAND thunder_tool run ${CMAKE_SOURCE_DIR}/tests/cuda/memory.lua)
  set_tests_properties(cuda_lua_memory PROPERTIES LABELS "cuda;lua" TIMEOUT 300 PASS_REGULAR_EXPRESSION "is freed in time"
                       ENVIRONMENT "${THUNDER_FAKE_CUDA};THUNDER_FAKE_CUDA_MEMORY=268435456")
  add_test(NAME cuda_example_kernel COMMAND thunder_tool run ${CMAKE_SOURCE_DIR}/examples/extend/cuda_kernel.lua)
  set_tests_properties(cuda_example_kernel PROPERTIES LABELS "cuda;example" TIMEOUT 300 ENVIRONMENT "${THUNDER_FAKE_CUDA}"
                       PASS_REGULAR_EXPRESSION "the kernels give what the CPU does")
endif()
if(TARGET thunder_tool AND TARGET thunder_lua AND NOT THUNDER_SANITIZE)
  add_test(NAME cuda_lua_stages COMMAND thunder_tool run ${CMAKE_SOURCE_DIR}/tests/examples/stages.lua cuda
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  set_tests_properties(cuda_lua_stages PROPERTIES LABELS "cuda;lua" TIMEOUT 600 ENVIRONMENT "${THUNDER_FAKE_CUDA}"
                       PASS_REGULAR_EXPRESSION "stages on cuda")
  foreach(name batches device)
    add_test(NAME cuda_lua_${name} COMMAND thunder_tool run ${CMAKE_SOURCE_DIR}/tests/cuda/${name}.lua)
    set_tests_properties(cuda_lua_${name} PROPERTIES LABELS "cuda;lua" TIMEOUT 300 ENVIRONMENT "${THUNDER_FAKE_CUDA}")
  endforeach()
endif()
# The kernels' texts by NVIDIA's own compiler, where it is installed.
if(NOT THUNDER_SANITIZE)
  add_test(NAME cuda_texts COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/cuda/compile_texts.py ${CMAKE_BINARY_DIR})
  set_tests_properties(cuda_texts PROPERTIES LABELS "cuda;slow" TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()
if(TARGET thunder_python AND NOT THUNDER_SANITIZE)
  add_test(NAME cuda_beside COMMAND ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/cuda/beside.py --rounds 10 --small)
  set_tests_properties(cuda_beside PROPERTIES LABELS "cuda;python" TIMEOUT 300
                       ENVIRONMENT "${THUNDER_FAKE_CUDA};PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  foreach(name kernel batches tensors streams)
    add_test(NAME cuda_python_${name} COMMAND ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/cuda_${name}_test.py)
    set_tests_properties(cuda_python_${name} PROPERTIES LABELS "cuda;python" TIMEOUT 300
                         ENVIRONMENT "${THUNDER_FAKE_CUDA};PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  # Random programs on the stand-ins, beside the CPU: here each kernel takes the C++ compiler half a second.
  add_test(NAME cuda_doors COMMAND ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/doors/run --cuda --programs 8)
  add_test(NAME cuda_doors_many COMMAND ${THUNDER_PYTHON} ${CMAKE_SOURCE_DIR}/tests/doors/run --cuda --programs 500 --first 1000 --jobs 2)
  set_tests_properties(cuda_doors cuda_doors_many PROPERTIES LABELS "cuda;python" TIMEOUT 600
                       ENVIRONMENT "${THUNDER_FAKE_CUDA};PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  set_tests_properties(cuda_doors_many PROPERTIES LABELS "cuda;python;slow" TIMEOUT 7200)
endif()
set_tests_properties(cuda PROPERTIES LABELS cuda TIMEOUT 2400 ENVIRONMENT "${THUNDER_FAKE_CUDA}")
