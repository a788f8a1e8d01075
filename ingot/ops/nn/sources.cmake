list(APPEND ops_sources
  nn/pending.cpp)
