# A module of Go in build/.../languages/go: `replace thunder => that folder`, and what its file `env` exports
find_program(THUNDER_GO go)
if(THUNDER_GO)
  set(go_out ${swig_out}/go)
  thunder_swig_wrap(go ${go_out}/core cpp -go -cgo -intgosize 64)
  thunder_swig_ops(go ${go_out}/ops.go)
  file(GLOB go_sources CONFIGURE_DEPENDS ${swig_source}/go/*.go ${swig_source}/go/go.mod)
  thunder_swig_files(go ${go_out} ${go_sources})
  list(APPEND THUNDER_LANGUAGES go)
  # cgo compiles the wrapper itself, beside the file that swig wrote for Go.
  set(go_sanitize "")
  if(THUNDER_SANITIZE)
    set(go_sanitize -fsanitize=${THUNDER_SANITIZE})
  endif()
  set(go_cxxflags "-std=c++20 -O2 -w ${go_sanitize} -I${swig_source}/core -I${swig_made} -I${CMAKE_SOURCE_DIR}/include")
  set(go_ldflags "${go_sanitize} $<TARGET_FILE:thunder_swig> $<TARGET_FILE:thunder> -lcjson -Wl,-rpath,$<TARGET_FILE_DIR:thunder>")
  file(GENERATE OUTPUT ${go_out}/env CONTENT "export CGO_CXXFLAGS='${go_cxxflags}'\nexport CGO_LDFLAGS='${go_ldflags}'\n")
  set(go_environment "CGO_CXXFLAGS=${go_cxxflags}" "CGO_LDFLAGS=${go_ldflags}"
    "GOCACHE=${go_out}/cache" GOFLAGS=-mod=mod GOPROXY=off)
  set(go_programs ${language_tests}/smoke.go ${language_tests}/torture.go ${language_examples}/digits.go)
  set(go_built "")
  set(go_commands "")
  foreach(source ${go_programs})
    cmake_path(GET source STEM program)
    list(APPEND go_commands COMMAND ${CMAKE_COMMAND} -E make_directory ${go_out}/${program}
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${source} ${go_out}/${program}
      COMMAND ${CMAKE_COMMAND} -E env ${go_environment} ${THUNDER_GO} build -o bin/${program}.exe ./${program})
    list(APPEND go_built ${go_out}/bin/${program}.exe)
  endforeach()
  add_custom_command(OUTPUT ${go_built}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${go_wrap} ${go_out}/core/wrap.cxx
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${swig_out}/wrap/go.h ${go_out}/core
    ${go_commands}
    DEPENDS ${go_wrap} ${go_out}/ops.go ${swig_out}/wrap/go.filled ${go_programs} thunder_swig thunder
    WORKING_DIRECTORY ${go_out} VERBATIM)
  add_custom_target(thunder_swig_go ALL DEPENDS ${go_built})
  add_dependencies(languages thunder_swig_go)
  set(program_go ${CMAKE_COMMAND} -E env --)
  set(folder_go ${go_out}/bin)
  set(extension_go exe)
endif()
