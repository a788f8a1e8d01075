list(APPEND ops_tests
  quantization/quantization_kernel_test.cpp
  quantization/quantization_test.cpp)
