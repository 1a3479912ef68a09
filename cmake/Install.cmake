# What `cmake --install build/release --prefix P` puts where. Everything finds the rest relative to itself, so
# that an installed tree can be moved.
include(CMakePackageConfigHelpers)

# What is installed has no debugging information; the build's own files keep it.
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  install(CODE "set(CMAKE_INSTALL_DO_STRIP TRUE)" ALL_COMPONENTS)
endif()
# Components are packages (Package.cmake).
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h")
install(TARGETS thunder EXPORT thunder LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development)
if(TARGET thunder_llvm)
  install(TARGETS thunder_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/thunder COMPONENT library)
endif()
if(TARGET thunder_lua)
  install(TARGETS thunder_lua LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lua NAMELINK_COMPONENT development)
  install(TARGETS thunder_lua_module LIBRARY DESTINATION ${THUNDER_LUA_MODULE_DIR} COMPONENT lua)
endif()
if(TARGET thunder_tool)
  install(TARGETS thunder_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  # Each asks the tool when it is first used.
  set(completion ${CMAKE_SOURCE_DIR}/cli/completion)
  install(FILES ${completion}/thunder.bash DESTINATION share/bash-completion/completions RENAME thunder COMPONENT tool)
  install(FILES ${completion}/_thunder DESTINATION share/zsh/site-functions COMPONENT tool)
  install(FILES ${completion}/thunder.fish DESTINATION share/fish/vendor_completions.d COMPONENT tool)
endif()
set(doc_dir share/doc/libthunder-dev)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION ${doc_dir} COMPONENT development
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN man EXCLUDE PATTERN site EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${doc_dir} COMPONENT development PATTERN __pycache__ EXCLUDE)
file(READ ${CMAKE_SOURCE_DIR}/README.md front_page)
string(REPLACE "](docs/pictures/" "](pictures/" front_page "${front_page}")
string(REGEX REPLACE "`docs/([a-z/-]+[.]md)`" "[\\1](\\1)" front_page "${front_page}")
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/index.md CONTENT "${front_page}")
install(FILES ${CMAKE_BINARY_DIR}/generated/index.md DESTINATION ${doc_dir} COMPONENT development)
if(NOT CMAKE_INSTALL_PREFIX STREQUAL /usr)  # Debian's packages say it in their own form
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION ${doc_dir} COMPONENT development)
  install(FILES ${CMAKE_SOURCE_DIR}/core/jit/reports/page/dagre/LICENSE DESTINATION ${doc_dir} RENAME LICENSE.dagre COMPONENT development)
endif()
file(GLOB man_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  set(packed ${CMAKE_BINARY_DIR}/generated/thunder.1.gz)
  execute_process(COMMAND gzip -9nc ${man_pages} OUTPUT_FILE ${packed})
  set(man_pages ${packed})
endif()
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
# Into the Python that a distribution has, where the prefix is the distribution's; elsewhere pip does it.
if(TARGET thunder_python AND CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  install(DIRECTORY ${CMAKE_BINARY_DIR}/python/thunder DESTINATION lib/python3/dist-packages COMPONENT python
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  install(TARGETS thunder_python LIBRARY DESTINATION lib/python3/dist-packages/thunder COMPONENT python)
  set(facts lib/python3/dist-packages/libthunder-${PROJECT_VERSION}.dist-info)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/METADATA
       "Metadata-Version: 2.1\nName: libthunder\nVersion: ${PROJECT_VERSION}\nSummary: ${PROJECT_DESCRIPTION}\nLicense: Apache-2.0\nAuthor: libthunder contributors\nRequires-Dist: numpy\n")
  file(WRITE ${CMAKE_BINARY_DIR}/generated/entry_points.txt "[torch_dynamo_backends]\nthunder = thunder.torch:backend\n")
  install(FILES ${CMAKE_BINARY_DIR}/generated/METADATA ${CMAKE_BINARY_DIR}/generated/entry_points.txt DESTINATION ${facts} COMPONENT python)
endif()

file(RELATIVE_PATH pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(${CMAKE_SOURCE_DIR}/pkgconfig/thunder.pc.in ${CMAKE_BINARY_DIR}/generated/thunder.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/thunder.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Thunder)
install(EXPORT thunder NAMESPACE thunder:: FILE ThunderTargets.cmake DESTINATION ${package_dir}
        COMPONENT development)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/ThunderConfig.cmake.in
  ${CMAKE_BINARY_DIR}/generated/ThunderConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR THUNDER_PLUGIN_DIR THUNDER_LUA_MODULE_DIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/ThunderConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/ThunderConfig.cmake
  ${CMAKE_BINARY_DIR}/generated/ThunderConfigVersion.cmake DESTINATION ${package_dir} COMPONENT development)
include(Package)
