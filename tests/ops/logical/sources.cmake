list(APPEND ops_tests
  logical/logical_kernel_test.cpp
  logical/logical_test.cpp)
