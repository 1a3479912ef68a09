# The LLVM emitter: a module that libthunder opens when the first kernel is to be compiled, so that a program that
# compiles nothing does not load LLVM, and a machine without LLVM runs the same libthunder.
find_path(THUNDER_LLVM_INCLUDE llvm/ExecutionEngine/Orc/LLJIT.h PATHS /usr/lib/llvm-19/include /usr/include/llvm-19)
find_library(THUNDER_LLVM_LIBRARY NAMES LLVM-19 PATHS /usr/lib/llvm-19/lib)
if(THUNDER_LLVM_INCLUDE AND THUNDER_LLVM_LIBRARY)
  file(GLOB_RECURSE llvm_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/loops/llvm/*.cpp)
  add_library(thunder_llvm_objects OBJECT ${llvm_sources})
  target_include_directories(thunder_llvm_objects PRIVATE ${THUNDER_ROOTS})
  target_include_directories(thunder_llvm_objects SYSTEM PUBLIC ${THUNDER_LLVM_INCLUDE})
  target_link_libraries(thunder_llvm_objects PRIVATE thunder_flags)
  # LLVM is built without type information, which classes derived from its own would need.
  target_compile_options(thunder_llvm_objects PRIVATE -fno-rtti -Wno-redundant-move -Werror=switch)

  thunder_precompile(thunder_llvm_objects loops/nest.h llvm/IR/IRBuilder.h llvm/IR/Module.h)

  # Nor have ours that the module makes: the files that call them cannot check what they are.
  if(THUNDER_SANITIZE MATCHES "undefined")
    set(loops ${CMAKE_SOURCE_DIR}/core/loops)
    thunder_own_options(SOURCES ${loops}/kernel_cache.cpp ${loops}/kernels.cpp OPTIONS -fno-sanitize=vptr)
  endif()

  add_library(thunder_llvm MODULE ${CMAKE_SOURCE_DIR}/cmake/empty.cpp $<TARGET_OBJECTS:thunder_llvm_objects>)
  target_link_libraries(thunder_llvm PRIVATE thunder_flags ${THUNDER_LLVM_LIBRARY})
  target_link_options(thunder_llvm PRIVATE LINKER:--no-undefined)
  set_target_properties(thunder_llvm PROPERTIES PREFIX "" OUTPUT_NAME thunder-llvm)

  # The same with LLVM in it, for packages that bring what they need: code for this kind of processor alone. Made when it is asked for.
  find_program(THUNDER_LLVM_CONFIG NAMES llvm-config-19 PATHS /usr/lib/llvm-19/bin)
  if(THUNDER_LLVM_CONFIG AND NOT THUNDER_SANITIZE)
    execute_process(COMMAND ${THUNDER_LLVM_CONFIG} --link-static --libs orcjit passes native OUTPUT_VARIABLE llvm_archives
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${THUNDER_LLVM_CONFIG} --libdir OUTPUT_VARIABLE llvm_folder OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(llvm_archives)
    set(target_source ${CMAKE_SOURCE_DIR}/core/loops/llvm/target.cpp)
    add_library(thunder_llvm_whole MODULE EXCLUDE_FROM_ALL ${target_source}
                "$<FILTER:$<TARGET_OBJECTS:thunder_llvm_objects>,EXCLUDE,/target\\.cpp\\.o$>")
    target_include_directories(thunder_llvm_whole PRIVATE ${THUNDER_ROOTS})
    target_include_directories(thunder_llvm_whole SYSTEM PRIVATE ${THUNDER_LLVM_INCLUDE})
    target_compile_options(thunder_llvm_whole PRIVATE -fno-rtti -Wno-redundant-move)
    target_compile_definitions(thunder_llvm_whole PRIVATE THUNDER_LLVM_NATIVE=1)
    target_link_directories(thunder_llvm_whole PRIVATE ${llvm_folder})
    target_link_libraries(thunder_llvm_whole PRIVATE thunder_flags ${llvm_archives} -l:libzstd.a z)
    # No name of LLVM's leaves the module: a process may have another LLVM.
    target_link_options(thunder_llvm_whole PRIVATE LINKER:--no-undefined LINKER:--gc-sections LINKER:--exclude-libs,ALL)
    set_target_properties(thunder_llvm_whole PROPERTIES PREFIX "" OUTPUT_NAME thunder-llvm
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/whole SKIP_BUILD_RPATH ON)
  endif()
else()
  message(STATUS "LLVM 19 not found (llvm-19-dev): kernels are not compiled, the host executor runs every op")
endif()
