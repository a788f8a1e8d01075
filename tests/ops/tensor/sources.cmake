list(APPEND ops_tests
  tensor/hostile_kernel_test.cpp
  tensor/matmul_kernel_test.cpp
  tensor/matrix_test.cpp
  tensor/movement_kernel_test.cpp
  tensor/rearrange_test.cpp
  tensor/resize_kernel_test.cpp
  tensor/sampling_test.cpp
  tensor/selection_kernel_test.cpp
  tensor/shape_arithmetic_test.cpp)
