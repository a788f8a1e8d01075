list(APPEND frontends_sources
  boosting/ensemble.cpp
  boosting/import.cpp
  boosting/kernel_machine.cpp
  boosting/ports.cpp
  boosting/predict.cpp)
