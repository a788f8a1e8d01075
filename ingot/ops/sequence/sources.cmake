list(APPEND ops_sources
  sequence/elements.cpp
  sequence/optional.cpp
  sequence/sequence.cpp
  sequence/sequence_map.cpp
  sequence/split_and_concat.cpp)
