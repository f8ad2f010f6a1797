# `cmake --install build --prefix X`: the binary with its recipes, documents, manual pages and completions; the library, its
# headers, and what find_package(attend) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(ATTEND_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attend)

install(TARGETS attend RUNTIME)
if(TARGET attend_mpi)
  install(TARGETS attend_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/attend)
endif()
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

install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/attend FILES_MATCHING PATTERN "*.yml")
# As they lie here: they link to each other.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_file(${PROJECT_SOURCE_DIR}/packaging/attend.service.in ${PROJECT_BINARY_DIR}/attend.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/attend.service ${PROJECT_SOURCE_DIR}/packaging/Containerfile
        DESTINATION ${CMAKE_INSTALL_DATADIR}/attend)

# What the program says about itself, made by it when it is installed.
set(MADE ${PROJECT_BINARY_DIR}/made)
install(CODE "
  file(REMOVE_RECURSE ${MADE})
  execute_process(COMMAND $<TARGET_FILE:attend> man --out ${MADE}/man1 COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell bash zsh fish)
    execute_process(COMMAND $<TARGET_FILE:attend> completion \${shell} OUTPUT_FILE ${MADE}/\${shell} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(DIRECTORY ${MADE}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES ${MADE}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME attend)
install(FILES ${MADE}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _attend)
install(FILES ${MADE}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME attend.fish)
