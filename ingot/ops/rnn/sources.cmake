list(APPEND ops_sources
  rnn/gru.cpp
  rnn/lstm.cpp
  rnn/recurrent.cpp
  rnn/rnn.cpp)
