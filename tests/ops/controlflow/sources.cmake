list(APPEND ops_tests
  controlflow/controlflow_kernel_test.cpp
  controlflow/controlflow_test.cpp)
