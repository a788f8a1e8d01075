list(APPEND ops_sources
  text/strings.cpp
  text/tfidf_vectorizer.cpp
  text/utf8.cpp)
