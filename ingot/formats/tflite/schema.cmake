# tflite.fbs -> tflite_generated.h (its tables) and tflite_bfbs_generated.h (the schema itself as data).
find_program(INGOT_FLATC flatc REQUIRED)
set(schema ${CMAKE_CURRENT_SOURCE_DIR}/tflite/tflite.fbs)
set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
add_custom_command(
  OUTPUT ${generated}/tflite_generated.h ${generated}/tflite_bfbs_generated.h
  COMMAND ${INGOT_FLATC} --cpp --scoped-enums --gen-mutable --bfbs-gen-embed -o ${generated} ${schema}
  DEPENDS ${schema}
  VERBATIM)
target_sources(ingot_formats PRIVATE ${generated}/tflite_generated.h ${generated}/tflite_bfbs_generated.h)
target_include_directories(ingot_formats SYSTEM PRIVATE ${generated})
