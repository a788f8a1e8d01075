list(APPEND ops_sources
  reduction/arg_extremum.cpp
  reduction/fold.cpp
  reduction/reduce.cpp
  reduction/reduce_kernel.cpp
  reduction/reduced_axes.cpp)
