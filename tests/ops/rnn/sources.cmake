list(APPEND ops_tests
  rnn/gates_test.cpp
  rnn/recurrent_kernel_test.cpp
  rnn/recurrent_test.cpp)
