list(APPEND ops_sources
  rnn/activation.cpp
  rnn/cell.cpp
  rnn/gates.cpp
  rnn/gru.cpp
  rnn/layer.cpp
  rnn/lstm.cpp
  rnn/recurrent.cpp
  rnn/rnn.cpp)
