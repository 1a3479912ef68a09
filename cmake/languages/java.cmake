# -cp build/.../languages/java/thunder.jar -Djava.library.path=build/.../languages/java
find_program(THUNDER_JAVA java)
find_program(THUNDER_JAVAC javac)
find_program(THUNDER_JAR jar)
file(REAL_PATH "${THUNDER_JAVAC}" javac_real)
cmake_path(GET javac_real PARENT_PATH java_home)
cmake_path(GET java_home PARENT_PATH java_home)
if(THUNDER_JAVA AND THUNDER_JAVAC AND THUNDER_JAR AND EXISTS ${java_home}/include/jni.h)
  set(java_out ${swig_out}/java)
  thunder_swig_wrap(java ${java_out}/thunder/core cpp -java -package thunder.core)
  thunder_swig_module(java ${java_out} libthunder_java ${java_home}/include ${java_home}/include/linux)
  thunder_swig_ops(java-methods ${java_out}/thunder/TensorOps.java)
  thunder_swig_ops(java-functions ${java_out}/thunder/Ops.java)
  file(GLOB java_sources CONFIGURE_DEPENDS ${swig_source}/java/*.java)
  thunder_swig_files(java ${java_out}/thunder ${java_sources})
  add_custom_command(OUTPUT ${java_out}/thunder.jar
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${java_out}/classes
    COMMAND sh -c "exec \"$@\" thunder/*.java thunder/core/*.java" javac ${THUNDER_JAVAC} -nowarn -Xlint:-removal -d classes
    COMMAND ${THUNDER_JAR} --create --file thunder.jar -C classes .
    DEPENDS ${swig_out}/wrap/java.filled ${java_wrap} ${java_out}/thunder/TensorOps.java ${java_out}/thunder/Ops.java
    WORKING_DIRECTORY ${java_out} VERBATIM)
  add_custom_target(thunder_swig_java_jar ALL DEPENDS ${java_out}/thunder.jar)
  add_dependencies(languages thunder_swig_java_jar)
  # The smoke program runs from its source.
  thunder_swig_install(${java_out} ${java_out}/thunder.jar)
  set(program_java ${THUNDER_JAVA} -cp ${java_out}/thunder.jar -Djava.library.path=${java_out})
  set(extension_java java)
endif()
