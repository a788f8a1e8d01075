list(APPEND ops_sources
  controlflow/if.cpp
  controlflow/loop.cpp
  controlflow/merge_types.cpp
  controlflow/rounds.cpp
  controlflow/run_body.cpp
  controlflow/scan.cpp
  controlflow/scan_8.cpp)
