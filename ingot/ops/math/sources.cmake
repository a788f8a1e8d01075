list(APPEND ops_sources
  math/flattened_axis.cpp
  math/pending.cpp
  math/softmax.cpp)
