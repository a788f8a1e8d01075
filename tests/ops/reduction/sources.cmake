list(APPEND ops_tests
  reduction/reduction_test.cpp)
