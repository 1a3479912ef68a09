# Debian packages of what is installed, a component each: `tools/package` configures for /usr and calls cpack.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME thunder)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "libthunder contributors <thunder@invalid.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "deep-learning compiler that programs link")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library development tool lua python)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Where cpack finds the libraries of the other packages, which are not installed on the machine that makes them.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

execute_process(COMMAND gzip -9nc ${CMAKE_SOURCE_DIR}/cmake/debian/changelog OUTPUT_FILE ${CMAKE_BINARY_DIR}/generated/changelog.gz)
# thunder_debian(COMPONENT PACKAGE SECTION DEPENDS SUMMARY)
function(thunder_debian component package section depends summary)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  string(REPLACE "\n " "\n" summary "${summary}")  # cpack indents it
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${summary}" PARENT_SCOPE)
  if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
    install(FILES ${CMAKE_SOURCE_DIR}/cmake/debian/copyright ${CMAKE_BINARY_DIR}/generated/changelog.gz DESTINATION share/doc/${package}
            COMPONENT ${component})
  endif()
endfunction()
set(library "libthunder${THUNDER_ABI_VERSION}")
set(same "(= ${PROJECT_VERSION})")

# thunder_shared_library(COMPONENT PACKAGE SONAME): what other packages depend on that link it, and the linker's cache, by a trigger: the
# scripts that cpack would write call ldconfig themselves, which Debian forbids.
function(thunder_shared_library component package soname)
  string(TOUPPER ${component} name)
  set(folder ${CMAKE_BINARY_DIR}/generated/${package})
  file(WRITE ${folder}/shlibs "${soname} ${THUNDER_ABI_VERSION} ${package} (>= ${PROJECT_VERSION})\n")
  file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_${name}_PACKAGE_CONTROL_EXTRA "${folder}/shlibs;${folder}/triggers" PARENT_SCOPE)
endfunction()
thunder_shared_library(library ${library} libthunder)
thunder_shared_library(lua lua-thunder libthunder_lua)
thunder_debian(library ${library} libs "" "deep-learning compiler library
 Compiles functions of tensors, gradients included, to machine code.
 This package has the library and the module that compiles loops, which
 takes LLVM.")
thunder_debian(development libthunder-dev libdevel "${library} ${same}" "deep-learning compiler library, headers
 What programs in C and C++ are built with: headers, pkg-config's file and
 CMake's package; and the pages of the documentation.")
thunder_debian(tool thunder science "${library} ${same}, lua-thunder ${same}" "deep-learning compiler, the tool
 Runs Lua scripts, saved programs and ONNX models, and says what the
 compiler made of them.")
thunder_debian(lua lua-thunder libs "${library} ${same}" "deep-learning compiler library for Lua 5.4
 Tensors, and a compiler for functions of them, as the module thunder of Lua.")
# The module is for one minor version of Python.
string(REGEX MATCH "cpython-3([0-9]+)" python_minor "${python_suffix}")
math(EXPR python_next "${CMAKE_MATCH_1} + 1")
thunder_debian(python python3-thunder python
               "${library} ${same}, thunder ${same}, python3 (>= 3.${CMAKE_MATCH_1}), python3 (<< 3.${python_next}), python3-numpy"
               "deep-learning compiler library for Python 3
 Tensors, and a compiler for functions of them, as the module thunder. It
 cannot be installed beside lightning-thunder, whose module has the same
 name.")
# oneDNN and LAPACK are opened where they are found.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libdnnl2, libopenblas0-pthread | liblapack3")
set(CPACK_DEBIAN_LUA_PACKAGE_SUGGESTS lua5.4)
# What is packed was built before: cpack builds nothing.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
include(CPack)
