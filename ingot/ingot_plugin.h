/* What a shared library gives to Ingot: operators, formats, targets. C alone crosses this header.
 *
 *   static const ingot_plugin plugin = {sizeof plugin, INGOT_PLUGIN_VERSION, "mine", &op, 1, NULL, 0, NULL, 0};
 *   const ingot_plugin* ingot_plugin_entry(void) { return &plugin; }
 *
 * It is loaded where the user names it (ingot --plugin mine.so ...), never because a model does. Everything that is
 * pointed to lives until the process ends. Functions may be called from several threads at once. A function that
 * returns an int returns 0 when it is done; else it has called host->fail. */
#ifndef INGOT_INGOT_PLUGIN_H
#define INGOT_INGOT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INGOT_PLUGIN_VERSION 1

/* A tensor. `type` is ONNX's number of the element type (1 float, 7 int64 ...). While types are inferred, `data` is
 * NULL, `rank` is -1 where it is not known, and so are sizes. Elements of less than a byte have a byte each; texts
 * (type 8) have no `data` here, and cannot be made. */
typedef struct ingot_tensor {
  int32_t type;
  int32_t rank;
  const int64_t* dims;
  const void* data;
} ingot_tensor;

/* One node while it is inferred or run. */
typedef struct ingot_call ingot_call;

typedef struct ingot_host {
  size_t size;
  size_t (*input_count)(const ingot_call* call);
  size_t (*output_count)(const ingot_call* call);
  /* 1: there is such an input; 0: it is absent, or no tensor. */
  int (*input)(const ingot_call* call, size_t index, ingot_tensor* tensor);
  /* 1: the attribute is there and has this type. */
  int (*attribute_int)(const ingot_call* call, const char* name, int64_t* value);
  int (*attribute_float)(const ingot_call* call, const char* name, float* value);
  int (*attribute_string)(const ingot_call* call, const char* name, const char** value, size_t* length);
  int (*attribute_ints)(const ingot_call* call, const char* name, const int64_t** values, size_t* count);
  /* States an output's type and sizes. While running it returns memory for the elements, which is not cleared; NULL: it
   * is refused, and the function returns. While inferring it returns NULL, and a size of -1 is one that is not known.
   */
  void* (*output)(ingot_call* call, size_t index, int32_t type, int32_t rank, const int64_t* dims);
  void (*fail)(ingot_call* call, const char* message);
} ingot_host;

typedef struct ingot_operator {
  size_t size;
  /* "my.domain.Name(x, bias?, more...) -> (y, rest?)": ? may be absent, ... is any number. */
  const char* schema;
  int (*infer)(const ingot_host* host, ingot_call* call); /* needed where there is no body */
  int (*run)(const ingot_host* host, ingot_call* call);   /* NULL: the body is run */
  /* The operator as an ONNX function, in ONNX's text syntax, and functions that it calls; NULL: there is none. With it
   * the operator also converts to other formats and has a gradient.
   *   <domain: "my.domain", opset_import: ["" : 21]> Name (x) => (y) { s = Mul (x, x) y = Mul (s, x) } */
  const char* body;
} ingot_operator;

/* Bytes that `release` gives back. */
typedef struct ingot_bytes {
  const void* data;
  size_t size;
  void (*release)(struct ingot_bytes* bytes);
} ingot_bytes;

typedef struct ingot_format {
  size_t size;
  const char* name;      /* as in --from and --to */
  const char* title;     /* for people */
  const char* extension; /* with the dot */
  /* Whether contents are of this format; NULL: the extension tells. */
  int (*recognise)(const void* contents, size_t size);
  /* From the file's contents to those of an ONNX file, and back; NULL where there is no such way. What went wrong is
   * written to `message`. */
  int (*read)(const void* contents, size_t size, ingot_bytes* onnx, char* message, size_t message_size);
  int (*write)(const void* onnx, size_t size, ingot_bytes* contents, char* message, size_t message_size);
} ingot_format;

typedef struct ingot_target {
  size_t size;
  const char* json; /* as in a target file: docs/partition.md */
} ingot_target;

typedef struct ingot_plugin {
  size_t size;
  uint32_t version; /* INGOT_PLUGIN_VERSION of the header it was compiled with */
  const char* name;
  const ingot_operator* operators;
  size_t operator_count;
  const ingot_format* formats;
  size_t format_count;
  const ingot_target* targets;
  size_t target_count;
} ingot_plugin;

/* The one symbol that the library exports. */
const ingot_plugin* ingot_plugin_entry(void);

#ifdef __cplusplus
}
#endif

#endif
