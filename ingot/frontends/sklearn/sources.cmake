list(APPEND frontends_sources
  sklearn/bayes.cpp
  sklearn/boosted.cpp
  sklearn/cluster.cpp
  sklearn/compose.cpp
  sklearn/context.cpp
  sklearn/encode.cpp
  sklearn/ensembles.cpp
  sklearn/estimator.cpp
  sklearn/import.cpp
  sklearn/linear.cpp
  sklearn/machines.cpp
  sklearn/reduce.cpp
  sklearn/scale.cpp
  sklearn/table.cpp
  sklearn/tree_reader.cpp
  sklearn/trees.cpp)
