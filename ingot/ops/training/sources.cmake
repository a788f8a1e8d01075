list(APPEND ops_sources
  training/adagrad.cpp
  training/adam.cpp
  training/gradient.cpp
  training/momentum.cpp
  training/optimizers.cpp)
