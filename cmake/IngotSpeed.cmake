# ccache and mold where present: quick rebuilds on small machines. Only when Ingot is not a part of another project.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

find_program(INGOT_CCACHE ccache)
if(INGOT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Relative paths let several checkouts share one cache; precompiled headers need the sloppiness. What a file depends on
  # is told by the compiler, which Ninja asks for that anyway, so that nothing is preprocessed twice.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true CCACHE_DEPEND=true
                                  CCACHE_SLOPPINESS=pch_defines,time_macros ${INGOT_CCACHE})
endif()

find_program(INGOT_MOLD mold)
if(INGOT_MOLD)
  # mold 1.10 lets the part that is made read-only begin at .tbss, which may lie outside of every segment: such a
  # program does not start. What is released is hardened and linked by the system's linker. Where code shares pages with
  # what lies beside it, the number of segments may depend on their places, and those on the number: it never ends then.
  add_link_options("$<$<NOT:$<CONFIG:Release>>:-fuse-ld=mold;LINKER:-z,norelro;LINKER:-z,separate-code>")
endif()
