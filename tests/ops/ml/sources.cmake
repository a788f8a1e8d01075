list(APPEND ops_tests
  ml/ml_kernel_test.cpp
  ml/ml_test.cpp
  ml/trees_test.cpp)
