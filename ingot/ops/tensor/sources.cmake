list(APPEND ops_sources
  tensor/pending.cpp
  tensor/squeeze.cpp)
