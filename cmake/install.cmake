# `cmake --install build --prefix X`: the binary, the library, its headers, and what find_package(attend) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(ATTEND_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attend)

install(TARGETS attend RUNTIME)
install(TARGETS attend_lib EXPORT attendTargets ARCHIVE)
# Headers that end in -inl.h are only for the library's own sources.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/attend DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/attendConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/attendConfig.cmake INSTALL_DESTINATION ${ATTEND_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attendConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT attendTargets NAMESPACE attend:: DESTINATION ${ATTEND_CMAKE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/attendConfig.cmake ${PROJECT_BINARY_DIR}/attendConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/dnnl.cmake
        DESTINATION ${ATTEND_CMAKE_DIR})
