list(APPEND ops_tests
  quantization/quantization_test.cpp)
