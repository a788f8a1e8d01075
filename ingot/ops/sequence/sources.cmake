list(APPEND ops_sources
  sequence/optional.cpp
  sequence/sequence.cpp
  sequence/sequence_map.cpp
  sequence/split_and_concat.cpp)
