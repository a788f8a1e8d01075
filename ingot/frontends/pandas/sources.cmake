list(APPEND frontends_sources
  pandas/columns.cpp
  pandas/expressions.cpp
  pandas/fitted.cpp
  pandas/frames.cpp
  pandas/import.cpp
  pandas/methods.cpp
  pandas/translator.cpp)
