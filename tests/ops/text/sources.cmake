list(APPEND ops_tests
  text/text_test.cpp)
