# What `cmake --install build/release --prefix P` puts where. Everything finds the rest relative to itself, so
# that an installed tree can be moved.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(TARGETS thunder EXPORT thunder LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET thunder_llvm)
  install(TARGETS thunder_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/thunder)
endif()
if(TARGET thunder_lua)
  install(TARGETS thunder_lua LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS thunder_lua_module LIBRARY DESTINATION ${THUNDER_LUA_MODULE_DIR})
endif()
if(TARGET thunder_tool)
  install(TARGETS thunder_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
file(GLOB man_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

file(RELATIVE_PATH pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(${CMAKE_SOURCE_DIR}/pkgconfig/thunder.pc.in ${CMAKE_BINARY_DIR}/generated/thunder.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/thunder.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Thunder)
install(EXPORT thunder NAMESPACE thunder:: FILE ThunderTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/ThunderConfig.cmake.in
  ${CMAKE_BINARY_DIR}/generated/ThunderConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR THUNDER_PLUGIN_DIR THUNDER_LUA_MODULE_DIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/ThunderConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/ThunderConfig.cmake
  ${CMAKE_BINARY_DIR}/generated/ThunderConfigVersion.cmake DESTINATION ${package_dir})
