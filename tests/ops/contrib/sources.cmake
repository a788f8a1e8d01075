list(APPEND ops_tests
  contrib/contrib_test.cpp
  contrib/hashes_test.cpp
  contrib/own_texts_test.cpp
  contrib/sentences_test.cpp)
