list(APPEND ops_tests
  controlflow/controlflow_test.cpp)
