# ccache and mold where present: quick rebuilds on small machines. Only when Ingot is not a part of another project.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

find_program(INGOT_CCACHE ccache)
if(INGOT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Relative paths let several checkouts share one cache; precompiled headers need the sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
                                  CCACHE_SLOPPINESS=pch_defines,time_macros ${INGOT_CCACHE})
endif()

find_program(INGOT_MOLD mold)
if(INGOT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
