list(APPEND ops_tests
  rnn/recurrent_test.cpp)
