list(APPEND ops_tests
  generator/generator_test.cpp)
