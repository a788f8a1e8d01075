/* A plug-in with one of each: an operator with a kernel, one with a body, a format and a target.
 *
 *   ingot --plugin libingot_example_plugin.so run model.onnx --random 1 */
#include <ingot/ingot_plugin.h>
#include <stdlib.h>
#include <string.h>

/* example.Scale: y = factor * x, for floats. */
static int scale_infer(const ingot_host* host, ingot_call* call) {
  ingot_tensor x;
  if (!host->input(call, 0, &x) || x.rank < 0) return 0; /* nothing is known */
  if (x.type != 1) {
    host->fail(call, "Scale takes floats");
    return 1;
  }
  host->output(call, 0, x.type, x.rank, x.dims);
  return 0;
}

static int scale_run(const ingot_host* host, ingot_call* call) {
  ingot_tensor x;
  float factor = 1;
  size_t i, count = 1;
  const float* from;
  float* to;
  if (!host->input(call, 0, &x) || x.type != 1) {
    host->fail(call, "Scale takes floats");
    return 1;
  }
  host->attribute_float(call, "factor", &factor);
  to = (float*)host->output(call, 0, x.type, x.rank, x.dims);
  if (!to) return 1;
  for (i = 0; i < (size_t)x.rank; ++i) count *= (size_t)x.dims[i];
  from = (const float*)x.data;
  for (i = 0; i < count; ++i) to[i] = factor * from[i];
  return 0;
}

/* example.Swish: x * sigmoid(x), in ONNX's own operators. */
static const char swish[] =
    "<domain: \"example\", opset_import: [\"\" : 21]>\n"
    "Swish (x) => (y) { s = Sigmoid (x) y = Mul (x, s) }\n";

static const ingot_operator operators[] = {
    {sizeof(ingot_operator), "example.Scale(x) -> (y)", scale_infer, scale_run, NULL},
    {sizeof(ingot_operator), "example.Swish(x) -> (y)", NULL, NULL, swish},
};

/* A format: "FLIP", then an ONNX file with all bits turned. */
static int flip_recognise(const void* contents, size_t size) { return size >= 4 && memcmp(contents, "FLIP", 4) == 0; }

static void give_back(ingot_bytes* bytes) { free((void*)(size_t)bytes->data); }

static int flip_read(const void* contents, size_t size, ingot_bytes* onnx, char* message, size_t message_size) {
  const unsigned char* from = (const unsigned char*)contents + 4;
  unsigned char* to;
  size_t i;
  if (!flip_recognise(contents, size)) {
    strncpy(message, "the file does not begin with FLIP", message_size - 1);
    return 1;
  }
  to = (unsigned char*)malloc(size - 4 + 1);
  if (!to) return 1;
  for (i = 0; i + 4 < size; ++i) to[i] = (unsigned char)~from[i];
  onnx->data = to;
  onnx->size = size - 4;
  onnx->release = give_back;
  return 0;
}

static int flip_write(const void* onnx, size_t size, ingot_bytes* contents, char* message, size_t message_size) {
  const unsigned char* from = (const unsigned char*)onnx;
  unsigned char* to = (unsigned char*)malloc(size + 4);
  size_t i;
  (void)message;
  (void)message_size;
  if (!to) return 1;
  memcpy(to, "FLIP", 4);
  for (i = 0; i < size; ++i) to[i + 4] = (unsigned char)~from[i];
  contents->data = to;
  contents->size = size + 4;
  contents->release = give_back;
  return 0;
}

static const ingot_format formats[] = {
    {sizeof(ingot_format), "flip", "flipped ONNX", ".flip", flip_recognise, flip_read, flip_write},
};

static const ingot_target targets[] = {
    {sizeof(ingot_target),
     "{\"name\": \"example-npu\", \"title\": \"an example\", \"static_shapes\": true,"
     " \"operators\": {\"Relu\": {}, \"Conv\": {\"types\": [\"float\"], \"ranks\": [4, 4]}}}"},
};

static const ingot_plugin plugin = {
    sizeof(ingot_plugin), INGOT_PLUGIN_VERSION, "example", operators, 2, formats, 1, targets, 1};

const ingot_plugin* ingot_plugin_entry(void) { return &plugin; }
