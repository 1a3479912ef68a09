# import thunder_swig with PYTHONPATH=build/.../languages/python: the shared interface beside the package written by hand
if(TARGET thunder_python)
  thunder_swig_wrap(python ${swig_out}/python cpp -python)
  thunder_swig_module(python ${swig_out}/python _thunder_core ${python_include})
  thunder_swig_files(python ${swig_out}/python ${swig_source}/python/thunder_swig.py)
  set(program_python ${CMAKE_COMMAND} -E env PYTHONPATH=${swig_out}/python PYTHONDONTWRITEBYTECODE=1 ${THUNDER_PYTHON})
  set(extension_python py)
endif()
