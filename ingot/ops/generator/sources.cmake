list(APPEND ops_sources
  generator/constant.cpp
  generator/constant_of_shape.cpp
  generator/eye_like.cpp
  generator/mel_weight_matrix.cpp
  generator/philox.cpp
  generator/random.cpp
  generator/range.cpp
  generator/window.cpp)
