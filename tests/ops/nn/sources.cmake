list(APPEND ops_tests
  nn/attention_test.cpp
  nn/conv_kernel_test.cpp
  nn/conv_test.cpp
  nn/normalization_kernel_test.cpp
  nn/normalization_test.cpp
  nn/pool_kernel_test.cpp
  nn/pool_test.cpp
  nn/recurrence_kernel_test.cpp
  nn/region_kernel_test.cpp
  nn/static_window_test.cpp)
