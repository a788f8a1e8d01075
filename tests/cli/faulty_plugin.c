/* Plug-ins that are wrong in one way each: which one is said when this is compiled. */
#include <ingot/ingot_plugin.h>
#include <stdlib.h>

static int infer(const ingot_host* host, ingot_call* call) {
  ingot_tensor x;
  if (!host->input(call, 0, &x) || x.rank < 0) return 0;
  host->output(call, 0, x.type, x.rank, x.dims);
  return 0;
}

static int run(const ingot_host* host, ingot_call* call) {
#if defined FAULT_lies
  const int64_t dims[] = {7, 7};
  return host->output(call, 0, 1, 2, dims) ? 0 : 1;
#elif defined FAULT_silent
  (void)host;
  (void)call;
  return 3;
#elif defined FAULT_tells
  host->fail(call, "it has had enough");
  return 1;
#else
  (void)host;
  (void)call;
  return 0; /* and makes nothing */
#endif
}

#if defined FAULT_schema
#define SCHEMA "no schema at all"
#elif defined FAULT_twice || defined FAULT_replaces
#define SCHEMA "com.microsoft.Gelu(x) -> (y)"
#elif defined FAULT_standard
#define SCHEMA "ai.onnx.Relu2(x) -> (y)"
#else
#define SCHEMA "faulty.Op(x) -> (y)"
#endif

static const ingot_operator operators[] = {
#if defined FAULT_lonely
    {sizeof(ingot_operator), SCHEMA, infer, NULL, NULL},
#elif defined FAULT_replaces
    {sizeof(ingot_operator), SCHEMA, NULL, NULL,
     "<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]>\n"
     "unused (float[N] x) => (float[N] y) { y = Identity (x) }\n"
     "<domain: \"com.microsoft\", opset_import: [\"\" : 21]>\nGelu (x) => (y) { y = Neg (x) }\n"},
#else
    {sizeof(ingot_operator), SCHEMA, infer, run, NULL},
#endif
};

#if defined FAULT_target
static const ingot_target targets[] = {{sizeof(ingot_target), "{\"operators\": 3}"}};
#elif defined FAULT_tflite
static const ingot_target targets[] = {{sizeof(ingot_target), "{\"name\": \"tflite\", \"operators\": {}}"}};
#endif

static const ingot_plugin plugin = {sizeof(ingot_plugin),
#if defined FAULT_version
                                    99,
#else
                                    INGOT_PLUGIN_VERSION,
#endif
#if defined FAULT_name
                                    NULL,
#else
                                    "faulty",
#endif
                                    operators,
                                    1,
                                    NULL,
                                    0,
#if defined FAULT_target || defined FAULT_tflite
                                    targets,
                                    1};
#else
                                    NULL,
                                    0};
#endif

const ingot_plugin* ingot_plugin_entry(void) {
#if defined FAULT_null
  (void)plugin;
  return NULL;
#else
  return &plugin;
#endif
}
