list(APPEND ops_tests
  sequence/sequence_test.cpp)
