# -r:build/.../languages/csharp/Thunder.dll, with MONO_PATH and LD_LIBRARY_PATH there
find_program(THUNDER_MCS mcs)
find_program(THUNDER_MONO mono)
if(THUNDER_MCS AND THUNDER_MONO)
  set(csharp_out ${swig_out}/csharp)
  thunder_swig_wrap(csharp ${csharp_out}/core cpp -csharp -namespace Thunder.Core -dllimport thunder_csharp)
  thunder_swig_module(csharp ${csharp_out} libthunder_csharp)
  thunder_swig_ops(csharp ${csharp_out}/TensorOps.cs)
  file(GLOB csharp_sources CONFIGURE_DEPENDS ${swig_source}/csharp/*.cs)
  thunder_swig_files(csharp ${csharp_out}/layer ${csharp_sources})
  add_custom_command(OUTPUT ${csharp_out}/Thunder.dll
    COMMAND ${THUNDER_MCS} -debug -nologo -target:library -out:Thunder.dll -recurse:core/*.cs -recurse:layer/*.cs TensorOps.cs
    DEPENDS ${swig_out}/wrap/csharp.filled ${csharp_wrap} ${csharp_out}/TensorOps.cs
    WORKING_DIRECTORY ${csharp_out} VERBATIM)
  set(csharp_programs "")
  foreach(source ${language_tests}/smoke.cs ${language_tests}/torture.cs ${language_examples}/digits.cs)
    cmake_path(GET source STEM program)
    add_custom_command(OUTPUT ${csharp_out}/${program}.exe
      COMMAND ${THUNDER_MCS} -debug -nologo -out:${program}.exe -r:Thunder.dll ${source}
      DEPENDS ${csharp_out}/Thunder.dll ${source} WORKING_DIRECTORY ${csharp_out} VERBATIM)
    list(APPEND csharp_programs ${csharp_out}/${program}.exe)
  endforeach()
  add_custom_target(thunder_swig_csharp_programs ALL DEPENDS ${csharp_programs})
  add_dependencies(languages thunder_swig_csharp_programs)
  thunder_swig_install(${csharp_out} ${csharp_out}/Thunder.dll)
  set(program_csharp ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${csharp_out} ${THUNDER_MONO} --debug)
  set(folder_csharp ${csharp_out})
  set(extension_csharp exe)
endif()
