list(APPEND ops_tests
  signal/signal_test.cpp)
