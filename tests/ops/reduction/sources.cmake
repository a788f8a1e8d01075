list(APPEND ops_tests
  reduction/reduction_kernel_test.cpp
  reduction/reduction_test.cpp)
