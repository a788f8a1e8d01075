list(APPEND ops_tests
  signal/fourier_kernel_test.cpp
  signal/signal_test.cpp)
