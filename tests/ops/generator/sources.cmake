list(APPEND ops_tests
  generator/generator_kernel_test.cpp
  generator/generator_test.cpp)
