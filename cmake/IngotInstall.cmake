# find_package(Ingot) for other projects: the targets Ingot::<folder> of an installed tree. The parts are components,
# which script/package makes packages of: program, development, python.
include(CMakePackageConfigHelpers)

set(ingot_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Ingot)
get_property(ingot_components GLOBAL PROPERTY INGOT_COMPONENTS)
get_property(ingot_packages GLOBAL PROPERTY INGOT_PACKAGES)
list(REMOVE_ITEM ingot_packages GTest benchmark)
list(REMOVE_DUPLICATES ingot_packages)

if(ingot_components)
  install(EXPORT IngotTargets NAMESPACE Ingot:: DESTINATION ${ingot_package_dir} COMPONENT development)
endif()
configure_package_config_file(cmake/IngotConfig.cmake.in ${PROJECT_BINARY_DIR}/IngotConfig.cmake
                              INSTALL_DESTINATION ${ingot_package_dir})
# 0.x: any minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/IngotConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/IngotConfig.cmake ${PROJECT_BINARY_DIR}/IngotConfigVersion.cmake
              cmake/FindLZ4.cmake cmake/FindMPG123.cmake cmake/FindOpenJPEG.cmake cmake/FindWebP.cmake
        DESTINATION ${ingot_package_dir} COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES ingot/ingot.h ingot/ingot_c.h ingot/ingot_plugin.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot COMPONENT development)
