list(APPEND ops_tests
  text/text_kernel_test.cpp
  text/text_test.cpp)
