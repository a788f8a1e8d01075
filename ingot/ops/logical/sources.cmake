list(APPEND ops_sources
  logical/bitwise.cpp
  logical/compare.cpp
  logical/float_class.cpp
  logical/truth.cpp
  logical/where.cpp)
