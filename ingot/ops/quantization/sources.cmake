list(APPEND ops_sources
  quantization/dequantize_linear.cpp
  quantization/dynamic_quantize_linear.cpp
  quantization/integer_products.cpp
  quantization/integer_products_kernel.cpp
  quantization/quantize_linear.cpp
  quantization/scales.cpp)
