list(APPEND ops_tests
  logical/logical_test.cpp)
