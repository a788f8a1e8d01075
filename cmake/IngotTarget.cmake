# The only recipes for targets: a library per folder of ingot/, a test program per folder of tests/, programs,
# benchmarks and fuzz targets. Everywhere
#   DEPENDS    folders of ingot/ (base ir ...), linked as Ingot::<folder>
#   LIBRARIES  third-party targets (fmt::fmt ...); the package before the :: is found here, no find_package needed

# Packages whose name is not the namespace of their targets.
set(ingot_package_of_DNNL dnnl)
set(ingot_package_of_flatbuffers FlatBuffers)
set(ingot_package_of_hwy HWY)

# Finds the packages behind namespaced targets and remembers them for IngotConfig.cmake.
function(ingot_find_packages)
  foreach(library IN LISTS ARGN)
    if(library MATCHES "^([A-Za-z0-9_]+)::" AND NOT CMAKE_MATCH_1 STREQUAL "Ingot")
      set(package ${CMAKE_MATCH_1})
      if(ingot_package_of_${package})
        set(package ${ingot_package_of_${package}})
      endif()
      if(NOT TARGET ${library})
        find_package(${package} REQUIRED)
      endif()
      set_property(GLOBAL APPEND PROPERTY INGOT_PACKAGES ${package})
    endif()
  endforeach()
endfunction()

# A precompiled header per library and one for all tests: parsing headers is most of what a small file costs. It holds the
# standard library and what PRECOMPILE names: headers of Ingot that most files of the folder include and few commits
# touch. Files include what they use all the same: clang compiles them without it.
set(ingot_std_headers <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <numeric>
                      <optional> <set> <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <variant>
                      <vector>)
function(ingot_precompile target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  target_compile_options(${target} PRIVATE -fpch-preprocess)  # what ccache needs to cache files that use one
  set(headers)
  foreach(header IN LISTS ARGN)
    if(header MATCHES "^ingot/|^tests/")
      list(APPEND headers <${header}>)  # found by the include path, so that ccache serves other checkouts too
    else()
      list(APPEND headers ${header})
    endif()
  endforeach()
  target_precompile_headers(${target} PRIVATE ${ingot_std_headers} ${headers})
endfunction()

# Replaces in the list <sources> those that may be compiled as one by files that include them (tools/join_sources.py tells
# which): the templates that they share are instantiated once, which halves the time of a build from nothing. The parts
# are found by the include path, so that ccache serves other checkouts too. clang compiles every file by itself.
find_program(INGOT_PYTHON NAMES python3 HINTS /usr/bin)  # before wrappers in the PATH, which start slowly
function(ingot_join target sources)
  if(NOT INGOT_JOIN OR NOT INGOT_PYTHON OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  set(files ${${sources}})
  list(FILTER files INCLUDE REGEX "^[^/$][^$]*\\.cpp$")
  foreach(file IN LISTS files)
    get_source_file_property(own_options ${file} COMPILE_OPTIONS)
    if(own_options)  # set before the library is named
      list(REMOVE_ITEM files ${file})
    endif()
  endforeach()
  execute_process(COMMAND ${INGOT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/join_sources.py ${INGOT_JOIN} ${files}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [^\n]*" groups "${groups}")
  foreach(group IN LISTS groups)
    string(REPLACE " " ";" parts "${group}")
    set(content)
    foreach(part IN LISTS parts)
      string(APPEND content "#include \"${folder}/${part}\"\n")
    endforeach()
    list(GET parts 0 name)  # and no number, which would be another when a group before it goes
    string(REPLACE "../" "beside/" name ${name})  # or targets of one folder would write the same file
    set(joined ${CMAKE_CURRENT_BINARY_DIR}/${target}_joined/${name})
    file(CONFIGURE OUTPUT ${joined} CONTENT "${content}" @ONLY)
    list(REMOVE_ITEM ${sources} ${parts})
    list(APPEND ${sources} ${joined})
  endforeach()
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

# ingot_library(<folder> SOURCES <file>... [DEPENDS <folder>...] [LIBRARIES <target>...] [PRECOMPILE <header>...]
#               [AS <name>])
# Called from ingot/<folder>/CMakeLists.txt; files are named relative to it. AS: users know it as Ingot::<name>.
function(ingot_library folder)
  cmake_parse_arguments(arg "" "AS" "SOURCES;DEPENDS;LIBRARIES;PRECOMPILE" ${ARGN})
  if(NOT arg_AS)
    set(arg_AS ${folder})
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND Ingot::)
  ingot_find_packages(${arg_LIBRARIES})
  ingot_join(ingot_${folder} arg_SOURCES)
  add_library(ingot_${folder} STATIC ${arg_SOURCES})
  add_library(Ingot::${arg_AS} ALIAS ingot_${folder})
  set_target_properties(ingot_${folder} PROPERTIES EXPORT_NAME ${arg_AS})
  target_compile_features(ingot_${folder} PUBLIC cxx_std_20)
  target_include_directories(ingot_${folder} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(ingot_${folder} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LIBRARIES} $<BUILD_INTERFACE:ingot_flags>)
  ingot_precompile(ingot_${folder} ${arg_PRECOMPILE})
  set_property(GLOBAL APPEND PROPERTY INGOT_COMPONENTS ${arg_AS})
  if(INGOT_INSTALL)
    install(TARGETS ingot_${folder} EXPORT IngotTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT development)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${path}
            COMPONENT development FILES_MATCHING PATTERN *.h PATTERN *.def)
  endif()
endfunction()

# A program with Ingot's flags; the other recipes build on it.
function(ingot_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES;PRECOMPILE" ${ARGN})
  list(TRANSFORM arg_DEPENDS PREPEND Ingot::)
  ingot_find_packages(${arg_LIBRARIES})
  ingot_join(${name} arg_SOURCES)
  add_executable(${name} ${arg_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} ${arg_LIBRARIES} ingot_flags)
  if(arg_PRECOMPILE)
    ingot_precompile(${name} ${arg_PRECOMPILE})
  endif()
endfunction()

# ingot_program(<name> SOURCES <file>... [DEPENDS ...] [LIBRARIES ...]): a program for users; it is installed and
# knows its version as the string INGOT_VERSION.
function(ingot_program name)
  ingot_executable(${name} ${ARGN})
  target_compile_definitions(${name} PRIVATE INGOT_VERSION="${PROJECT_VERSION}")
  if(INGOT_INSTALL)
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${name}-program)  # Ingot::ingot is the library
    install(TARGETS ${name} EXPORT IngotTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  endif()
endfunction()

# ingot_program_library(<name> SOURCES <file>... [DEPENDS ...] [LIBRARIES ...] [PRECOMPILE <header>...]): what a program
# is made of, for those who are more than one. It is not installed.
function(ingot_program_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES;PRECOMPILE" ${ARGN})
  list(TRANSFORM arg_DEPENDS PREPEND Ingot::)
  ingot_find_packages(${arg_LIBRARIES})
  ingot_join(${name} arg_SOURCES)
  add_library(${name} STATIC ${arg_SOURCES})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE INGOT_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LIBRARIES} ingot_flags)
  ingot_precompile(${name} ${arg_PRECOMPILE})
endfunction()

# What tests spend time on is in the libraries: optimising the tests themselves costs a third of compiling them.
function(ingot_test_options target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O0>)
endfunction()

# The header that all test programs share.
function(ingot_test_header)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_header.cpp CONTENT "int main() {}\n" @ONLY)
  ingot_executable(ingot_test_header SOURCES ${PROJECT_BINARY_DIR}/test_header.cpp LIBRARIES GTest::gmock)
  ingot_test_options(ingot_test_header)
  ingot_precompile(ingot_test_header <gmock/gmock.h> <gtest/gtest.h> ingot/base/budget.h ingot/base/error.h
                   ingot/engine/session.h ingot/ir/model.h ingot/onnx/text.h ingot/ops/builder.h tests/support/files.h)
endfunction()

# ingot_test(<folder> SOURCES <file>... [DEPENDS ...] [LIBRARIES ...] [LABELS <label>...] [TIMEOUT <seconds>])
# One GoogleTest program per folder, ingot_test_<folder>, and one ctest case of the folder's name. Labels in use:
# threads (script/sanitize runs it under the thread sanitizer), acceptance (script/acceptance only).
function(ingot_test folder)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPENDS;LIBRARIES;LABELS" ${ARGN})
  ingot_executable(ingot_test_${folder} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS}
                   LIBRARIES ${arg_LIBRARIES} GTest::gmock_main)
  ingot_test_options(ingot_test_${folder})
  if(NOT TARGET ingot_test_header)
    ingot_test_header()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(ingot_test_${folder} PRIVATE -fpch-preprocess)
    target_precompile_headers(ingot_test_${folder} REUSE_FROM ingot_test_header)
  endif()
  add_test(NAME ${folder} COMMAND ingot_test_${folder})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${INGOT_TEST_TIMEOUT})
  endif()
  set_tests_properties(${folder} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# ingot_bench(<folder> SOURCES <file>... [DEPENDS ...] [LIBRARIES ...]): Google Benchmark program ingot_bench_<folder>.
function(ingot_bench folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  ingot_executable(ingot_bench_${folder} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS}
                   LIBRARIES ${arg_LIBRARIES} benchmark::benchmark_main)
  set_target_properties(ingot_bench_${folder} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()

# ingot_fuzz(<name> [SOURCES <file>...] [DEPENDS ...] [LIBRARIES ...])
# tests/fuzz/<name>_fuzz.cpp defines LLVMFuzzerTestOneInput. With INGOT_FUZZ it becomes the libFuzzer program
# ingot_fuzz_<name>; otherwise a program that replays tests/fuzz/corpus/<name>.tar and what lies in
# tests/fuzz/regressions/<name>, run by ctest as fuzz_<name>.
function(ingot_fuzz name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  set(sources ${name}_fuzz.cpp ${arg_SOURCES})
  if(NOT INGOT_FUZZ)
    if(NOT TARGET ingot_fuzz_replay)
      add_library(ingot_fuzz_replay OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cpp)
      target_link_libraries(ingot_fuzz_replay PUBLIC ingot_test_support PRIVATE ingot_flags)
    endif()
    list(APPEND arg_LIBRARIES ingot_fuzz_replay)
  endif()
  ingot_executable(ingot_fuzz_${name} SOURCES ${sources} DEPENDS ${arg_DEPENDS} LIBRARIES ${arg_LIBRARIES})
  if(INGOT_FUZZ)
    target_link_options(ingot_fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(ingot_fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/targets)
  else()
    add_test(NAME fuzz_${name} COMMAND ingot_fuzz_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}.tar
                                       ${PROJECT_SOURCE_DIR}/tests/fuzz/regressions/${name})
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 300)
  endif()
endfunction()
