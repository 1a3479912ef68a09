# A folder of core/ is a layer: an object library thunder_<layer> of every .cpp below the folder.
#
# Files include each other as "ir/trace.h". Each layer has an include root of its own that holds nothing but
# its folder, and a layer is compiled with its own root and those of the layers before it in this list: an
# include that points up does not compile.
set(THUNDER_LAYERS base ir device tensor ops scale tracer modules onnx passes transforms program loops executors regions compile cache jit)

# What many sources of a layer include. A layer without a list takes that of the nearest layer before it that is compiled with
# the same options.
set(precompiled_base base/files.h base/text.h)
set(precompiled_ops ops/batch.h ops/formulas.h ops/grad.h ops/kernels.h ops/samples.h ops/tables.h tensor/transfer.h)
set(precompiled_tracer ops/grad.h ops/registry.h tensor/transfer.h tracer/eager.h tracer/scope.h tracer/tracing.h)
set(precompiled_onnx onnx/operands.h onnx/rows.h)
set(precompiled_executors executors/executor.h loops/nest.h program/kernel.h tensor/transfer.h)
set(precompiled_jit executors/executor.h jit/call.h jit/context/context.h ops/grad.h tensor/transfer.h)

set(THUNDER_DEPENDENCIES PkgConfig::CJSON PkgConfig::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
set(THUNDER_OBJECTS "")   # every object of the library
set(THUNDER_ROOTS ${CMAKE_BINARY_DIR}/generated)  # the include roots of every layer, and of the lists that are made for them

# An object library, or nothing while there are no sources yet.
macro(thunder_add_objects name sources)
  if(NOT "${sources}" STREQUAL "")
    add_library(${name} OBJECT ${sources})
    target_link_libraries(${name} PRIVATE thunder_flags ${THUNDER_DEPENDENCIES})
    list(APPEND THUNDER_OBJECTS $<TARGET_OBJECTS:${name}>)
  endif()
endmacro()

# Writes OUTPUT with a line MACRO(STEM) for each STEM.
function(thunder_write_list output macro)
  set(text "")
  foreach(stem ${ARGN})
    string(APPEND text "${macro}(${stem})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${output} CONTENT "${text}" @ONLY)
endfunction()

function(thunder_list_stems result folder)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  list(TRANSFORM files REPLACE "^.*/([^/]*)\\.cpp$" "\\1")
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# A file of the first defines STEM_ops, of the second STEM_kinds; nothing else has to name it.
thunder_list_stems(stems core/ops/defs)
thunder_write_list(ops/ops.inc THUNDER_OPS_FILE ${stems})
thunder_list_stems(stems core/modules/kinds)
thunder_write_list(modules/kinds.inc THUNDER_MODULES_FILE ${stems})
# One of these defines STEM_rows.
thunder_list_stems(stems core/onnx/rows)
thunder_write_list(onnx/rows.inc THUNDER_ONNX_ROWS ${stems})
# One of these defines STEM_rules.
thunder_list_stems(stems core/executors/cuda/rules)
thunder_list_stems(others core/executors/cuda/attention)
thunder_write_list(executors/cuda/rules.inc THUNDER_CUDA_RULES ${stems} ${others})

# The prims by name, which everything that includes ir/prim.h waits for.
set(prims ${CMAKE_BINARY_DIR}/generated/ir/prims.inc)
file(GLOB definitions CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/ops/defs/*.cpp)
add_custom_command(OUTPUT ${prims}
  COMMAND ${CMAKE_COMMAND} -DOUT=${prims} -DFOLDER=${CMAKE_SOURCE_DIR}/core/ops/defs -P ${CMAKE_SOURCE_DIR}/cmake/Prims.cmake
  DEPENDS ${definitions} ${CMAKE_SOURCE_DIR}/cmake/Prims.cmake VERBATIM)
add_custom_target(thunder_prims DEPENDS ${prims})
add_dependencies(thunder_flags thunder_prims)

foreach(layer ${THUNDER_LAYERS})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/roots/${layer})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/core/${layer} ${CMAKE_BINARY_DIR}/roots/${layer}/${layer} SYMBOLIC)
  list(APPEND THUNDER_ROOTS ${CMAKE_BINARY_DIR}/roots/${layer})

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/${layer}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/loops/llvm/")  # a module of its own: cmake/Llvm.cmake

  # A subfolder that needs something beyond the base dependencies says so in an enable.cmake: it finds what it
  # needs and appends it to `libraries`, or sets `enabled` to OFF and is left out.
  set(libraries "")
  file(GLOB switches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/${layer}/*/enable.cmake
       ${CMAKE_SOURCE_DIR}/core/${layer}/*/*/enable.cmake)
  foreach(switch ${switches})
    set(enabled ON)
    include(${switch})
    if(NOT enabled)
      cmake_path(GET switch PARENT_PATH folder)
      list(FILTER sources EXCLUDE REGEX "^${folder}/")
    endif()
  endforeach()

  # Executors of processors and devices have large sources, which call alike what each does; two sources of loops have options of
  # their own under sanitizers (cmake/Llvm.cmake).
  set(apart "/executors/(cpu|cuda)/|/loops/kernel(s|_cache)\\.cpp$")
  set(large ${sources})
  list(FILTER large INCLUDE REGEX "${apart}")
  list(FILTER sources EXCLUDE REGEX "${apart}")
  thunder_join_sources(sources)
  thunder_add_objects(thunder_${layer} "${sources};${large}")
  if(TARGET thunder_${layer})
    if(precompiled_${layer})
      thunder_precompile(thunder_${layer} ${precompiled_${layer}})
      if(NOT layer MATCHES "^(ops|onnx)$") # which have options of their own
        set(precompiled thunder_${layer})
      endif()
    else()
      thunder_reuse_precompiled(thunder_${layer} ${precompiled})
    endif()
    target_include_directories(thunder_${layer} PRIVATE ${THUNDER_ROOTS})
    target_link_libraries(thunder_${layer} PRIVATE ${libraries})
    # A function of loop nests that some switch has no case for must not compile.
    if(layer STREQUAL loops)
      target_compile_options(thunder_${layer} PRIVATE -Werror=switch)
    endif()
    # At -O2 loops of unknown length stay scalar, and the reference kernels are nothing else. The rest of -O3 would
    # unroll the matrix product's inner tile out of its registers.
    if(layer STREQUAL ops)
      target_compile_options(thunder_${layer} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-fvect-cost-model=dynamic>)
    endif()
    # What reads and writes models runs once a model, and would be a tenth of the library.
    if(layer STREQUAL onnx)
      target_compile_options(thunder_${layer} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
    endif()
  endif()
  list(APPEND THUNDER_DEPENDENCIES ${libraries})
endforeach()
