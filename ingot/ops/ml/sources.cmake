list(APPEND ops_sources
  ml/category_mapper.cpp
  ml/features.cpp
  ml/features_kernel.cpp
  ml/forest.cpp
  ml/forest_attributes.cpp
  ml/label_encoder.cpp
  ml/linear.cpp
  ml/maps.cpp
  ml/old_trees.cpp
  ml/post_transform.cpp
  ml/rows.cpp
  ml/scores.cpp
  ml/svm_kernel.cpp
  ml/tree_ensemble.cpp
  ml/tree_ensemble_classifier.cpp
  ml/tree_ensemble_regressor.cpp
  ml/votes.cpp)
