# OpenJPEG::openjp2: its own package config names a target outside any namespace.
find_path(OpenJPEG_INCLUDE_DIR openjpeg.h PATH_SUFFIXES openjpeg-2.5 openjpeg-2.4 openjpeg-2.3)
find_library(OpenJPEG_LIBRARY openjp2)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenJPEG REQUIRED_VARS OpenJPEG_LIBRARY OpenJPEG_INCLUDE_DIR)
if(OpenJPEG_FOUND AND NOT TARGET OpenJPEG::openjp2)
  add_library(OpenJPEG::openjp2 UNKNOWN IMPORTED)
  set_target_properties(OpenJPEG::openjp2 PROPERTIES IMPORTED_LOCATION ${OpenJPEG_LIBRARY}
                                                     INTERFACE_INCLUDE_DIRECTORIES ${OpenJPEG_INCLUDE_DIR})
endif()
mark_as_advanced(OpenJPEG_INCLUDE_DIR OpenJPEG_LIBRARY)
