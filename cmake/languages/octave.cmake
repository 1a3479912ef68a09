# octave --path build/.../languages/octave
find_program(THUNDER_OCTAVE octave-cli)
find_program(THUNDER_OCTAVE_CONFIG octave-config)
thunder_ask(octave_include ${THUNDER_OCTAVE_CONFIG} -p OCTINCLUDEDIR)
if(THUNDER_OCTAVE AND EXISTS ${octave_include}/oct.h)
  thunder_swig_wrap(octave ${swig_out}/octave cpp -octave)
  thunder_swig_module(octave ${swig_out}/octave thunder_core ${octave_include} ${octave_include}/..)
  # Octave looks for a function of the module that SWIG does not mark as exported.
  set_target_properties(thunder_swig_octave PROPERTIES SUFFIX .oct CXX_VISIBILITY_PRESET default)
  file(GLOB octave_files CONFIGURE_DEPENDS ${swig_source}/octave/*.m)
  thunder_swig_files(octave ${swig_out}/octave ${octave_files})
  install(DIRECTORY ${swig_out}/octave/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/thunder/languages/octave OPTIONAL
          FILES_MATCHING PATTERN "*.m")
  set(program_octave ${THUNDER_OCTAVE} --no-init-file --path ${swig_out}/octave)
  set(extension_octave m)
endif()
