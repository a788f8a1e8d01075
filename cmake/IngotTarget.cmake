# One CMake target per folder of ingot/: Ingot::<folder>.

add_library(ingot_warnings INTERFACE)
target_compile_options(ingot_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor)

# ingot_library(<folder> SOURCES <file>... [DEPENDS <folder>...] [LIBRARIES <target>...])
# Called from ingot/<folder>/CMakeLists.txt; files are named relative to it.
function(ingot_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  list(TRANSFORM arg_DEPENDS PREPEND Ingot::)
  add_library(ingot_${folder} STATIC ${arg_SOURCES})
  add_library(Ingot::${folder} ALIAS ingot_${folder})
  set_target_properties(ingot_${folder} PROPERTIES EXPORT_NAME ${folder} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(ingot_${folder} PUBLIC cxx_std_20)
  target_include_directories(ingot_${folder} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_link_libraries(ingot_${folder} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LIBRARIES} $<BUILD_INTERFACE:ingot_warnings>)
endfunction()

# ingot_test(<folder> SOURCES <file>...): one GoogleTest program per folder, ingot_test_<folder>.
function(ingot_test folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  list(TRANSFORM arg_DEPENDS PREPEND Ingot::)
  add_executable(ingot_test_${folder} ${arg_SOURCES})
  target_link_libraries(ingot_test_${folder} PRIVATE ${arg_DEPENDS} ${arg_LIBRARIES} GTest::gmock_main ingot_warnings)
  target_compile_definitions(ingot_test_${folder} PRIVATE INGOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(ingot_test_${folder} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  add_test(NAME ${folder} COMMAND ingot_test_${folder})
endfunction()
