list(APPEND ops_tests
  training/training_test.cpp)
