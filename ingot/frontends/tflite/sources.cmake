list(APPEND frontends_sources
  tflite/constants.cpp
  tflite/conv.cpp
  tflite/elementwise.cpp
  tflite/frame.cpp
  tflite/import.cpp
  tflite/matmul.cpp
  tflite/op.cpp
  tflite/pool.cpp
  tflite/reduce.cpp
  tflite/resize.cpp
  tflite/shape.cpp
  tflite/slice.cpp
  tflite/spatial.cpp
  tflite/table.cpp)
