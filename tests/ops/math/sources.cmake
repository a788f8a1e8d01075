list(APPEND ops_tests
  math/along_axis_test.cpp
  math/arithmetic_test.cpp
  math/cast_test.cpp
  math/elementwise_test.cpp
  math/math_kernel_test.cpp)
