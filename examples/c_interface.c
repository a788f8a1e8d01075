/* Loads, converts and runs the classifier of build_graph.cpp in C99: ingot_example_c MODEL OUT */
#include <stdio.h>

#include "ingot/ingot_c.h"

static int failed(ingot_error* error) {
  fprintf(stderr, "%s\n", ingot_error_text(error));
  ingot_error_free(error);
  return 1;
}

int main(int argc, char** argv) {
  ingot_error* error = NULL;
  ingot_model* model = NULL;
  ingot_session* session = NULL;
  ingot_outputs* outputs = NULL;
  ingot_tensor scores;
  const ingot_option options[] = {{"opset", "13"}, {"rename", "scores=p"}};
  static float pixels[64];
  const int64_t dims[] = {1, 1, 8, 8};
  const ingot_input image = {"image", INGOT_FLOAT32, dims, 4, pixels, sizeof pixels};
  size_t i;

  if (argc != 3 || ingot_c_version() / 1000 != INGOT_C_VERSION / 1000) return 2;
  if (ingot_convert(argv[1], argv[2], options, 2, NULL, &error)) return failed(error);
  if (ingot_model_load(argv[2], NULL, &model, &error)) return failed(error);
  printf("opset %d: %s\n", (int)ingot_model_opset(model, NULL), ingot_model_input_type(model, 0));
  if (ingot_session_create(model, NULL, &session, &error)) return failed(error);
  ingot_model_free(model);
  if (ingot_session_run(session, &image, 1, &outputs, &error)) return failed(error);
  if (ingot_output_tensor(outputs, 0, &scores, &error)) return failed(error);
  printf("%s:", ingot_output_name(outputs, 0));
  for (i = 0; i < scores.element_count; ++i) printf(" %.4f", ((const float*)scores.data)[i]);
  printf("\n");
  ingot_outputs_free(outputs);
  ingot_session_free(session);
  return 0;
}
