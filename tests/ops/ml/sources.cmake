list(APPEND ops_tests
  ml/ml_test.cpp
  ml/trees_test.cpp)
