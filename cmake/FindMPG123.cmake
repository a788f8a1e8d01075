# MPG123::MPG123: libmpg123, for which Debian has no package config.
find_path(MPG123_INCLUDE_DIR mpg123.h)
find_library(MPG123_LIBRARY mpg123)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPG123 REQUIRED_VARS MPG123_LIBRARY MPG123_INCLUDE_DIR)
if(MPG123_FOUND AND NOT TARGET MPG123::MPG123)
  add_library(MPG123::MPG123 UNKNOWN IMPORTED)
  set_target_properties(MPG123::MPG123 PROPERTIES IMPORTED_LOCATION ${MPG123_LIBRARY}
                                                  INTERFACE_INCLUDE_DIRECTORIES ${MPG123_INCLUDE_DIR})
endif()
mark_as_advanced(MPG123_INCLUDE_DIR MPG123_LIBRARY)
