list(APPEND ops_tests
  sequence/sequence_kernel_test.cpp
  sequence/sequence_test.cpp)
