/* Ingot for C, and for every language that can call C: load, convert, run.
 *
 *   ingot_error* error = NULL;
 *   ingot_model* model = NULL;
 *   if (ingot_model_load("model.onnx", NULL, &model, &error) != INGOT_OK) {
 *     fprintf(stderr, "%s\n", ingot_error_text(error));
 *     ingot_error_free(error);
 *   }
 *
 * Handles are opaque. Every function that can fail returns an ingot_status and, where `error` is not NULL, leaves an
 * error there that the caller frees; a result that is handed out by a pointer is NULL or 0 then. No exception
 * crosses this header. NULL where it is not allowed is INGOT_BAD_ARGUMENT. Strings are UTF-8 and end with a
 * zero byte. A pointer that is returned lives as long as the handle it was asked of, unless it says otherwise.
 * ..._free(NULL) does nothing.
 *
 * Threads: every handle may be read by several threads at once, and one session may run in several of them. Nothing may
 * be used while it is freed.
 *
 * Versions: INGOT_C_VERSION grows when something is added. What is here is not changed or removed while the number of
 * the thousands stays. */
#ifndef INGOT_INGOT_C_H
#define INGOT_INGOT_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INGOT_C_VERSION 1000

/* INGOT_C_VERSION of the library that is linked: at least the header's, and of the same thousand, or it does not fit.
 */
int32_t ingot_c_version(void);
/* "0.1.0": of the library as a whole. */
const char* ingot_version(void);

/* What went wrong, in groups; ingot_error_code says it exactly. The numbers are the exit codes of the program. */
typedef int32_t ingot_status;
enum {
  INGOT_OK = 0,
  INGOT_BAD_ARGUMENT = 2, /* NULL, a size that does not fit, an option that makes no sense */
  INGOT_BAD_FILE = 3,     /* bad file or data */
  INGOT_UNSUPPORTED = 4,
  INGOT_LIMIT = 5, /* memory or time */
  INGOT_IO = 6,
  INGOT_DIVERGED = 7,
  INGOT_BUG = 70 /* a bug in Ingot */
};

typedef struct ingot_error ingot_error;
int32_t ingot_error_code(const ingot_error* error);        /* 312 is IG0312 of docs/errors.md; 0: no error */
const char* ingot_error_message(const ingot_error* error); /* what, in one sentence or a list */
const char* ingot_error_hint(const ingot_error* error);    /* what to do about it; may be "" */
const char* ingot_error_text(const ingot_error* error);    /* all of it, with file and node, to be printed */
void ingot_error_free(ingot_error* error);

/* ---- models ---- */

typedef struct ingot_model ingot_model;

/* A model of any format that Ingot reads. `format`: "onnx", "tflite", ...; NULL: the file tells. */
ingot_status ingot_model_load(const char* path, const char* format, ingot_model** model, ingot_error** error);
/* The same from memory, which is copied. Files beside the model (external data) cannot be reached. */
ingot_status ingot_model_load_memory(const void* data, size_t size, const char* format, ingot_model** model,
                                     ingot_error** error);
/* Written whole or not at all. `format` NULL: the extension tells. */
ingot_status ingot_model_save(const ingot_model* model, const char* path, const char* format, ingot_error** error);
void ingot_model_free(ingot_model* model);

/* The version of an operator set; domain NULL or "": ai.onnx. 0: not imported. */
int64_t ingot_model_opset(const ingot_model* model, const char* domain);
size_t ingot_model_input_count(const ingot_model* model);
size_t ingot_model_output_count(const ingot_model* model);
/* NULL: there is none of this number. Types are spelt "float[N,3]". */
const char* ingot_model_input_name(const ingot_model* model, size_t index);
const char* ingot_model_input_type(const ingot_model* model, size_t index);
const char* ingot_model_output_name(const ingot_model* model, size_t index);
const char* ingot_model_output_type(const ingot_model* model, size_t index);

/* ---- converting ---- */

/* The options of `ingot convert` (docs/convert.md) by their names without the dashes: "to", "opset", "for",
 * "input-shape", "rename", ... Options that are given several times add up; those without a value take "". */
typedef struct {
  const char* name;
  const char* value;
} ingot_option;

typedef struct ingot_report ingot_report;
/* From file to file. `report` may be NULL. */
ingot_status ingot_convert(const char* input, const char* output, const ingot_option* options, size_t option_count,
                           ingot_report** report, ingot_error** error);
/* What was done that nobody asked for by name, a line each. NULL: there is none of this number. */
size_t ingot_report_note_count(const ingot_report* report);
const char* ingot_report_note(const ingot_report* report, size_t index);
void ingot_report_free(ingot_report* report);

/* ---- running ---- */

/* Element types; the numbers are those of ONNX. */
typedef int32_t ingot_dtype;
enum {
  INGOT_FLOAT32 = 1,
  INGOT_UINT8 = 2,
  INGOT_INT8 = 3,
  INGOT_UINT16 = 4,
  INGOT_INT16 = 5,
  INGOT_INT32 = 6,
  INGOT_INT64 = 7,
  INGOT_STRING = 8,
  INGOT_BOOL = 9,
  INGOT_FLOAT16 = 10,
  INGOT_FLOAT64 = 11,
  INGOT_UINT32 = 12,
  INGOT_UINT64 = 13,
  INGOT_COMPLEX64 = 14,
  INGOT_COMPLEX128 = 15,
  INGOT_BFLOAT16 = 16
};

typedef struct ingot_session ingot_session;
typedef struct {
  uint32_t size;     /* sizeof(ingot_session_options): what a newer header adds is zero for older callers */
  int32_t threads;   /* 0: as many as the machine runs at once */
  uint64_t memory;   /* bytes that all runs together may take; 0: no limit */
  uint64_t time_ms;  /* from now on, for planning and all runs; 0: no limit */
  int32_t reference; /* not 0: reference kernels only */
  int32_t unchecked; /* not 0: models that `ingot check` refuses are tried too */
} ingot_session_options;

/* `options` NULL: the defaults. The model may be freed before the session. */
ingot_status ingot_session_create(const ingot_model* model, const ingot_session_options* options,
                                  ingot_session** session, ingot_error** error);
/* Ends the runs that are under way, and those to come, with IG1206. From any thread. */
void ingot_session_cancel(ingot_session* session);
void ingot_session_free(ingot_session* session);

/* A tensor that goes in. Nothing is copied: `data` is read until the run returns, and while outputs live that the model
 * passes through. It is aligned as its element type is. Strings cannot go in this way. */
typedef struct {
  const char* name;
  ingot_dtype dtype;
  const int64_t* dims; /* NULL where rank is 0 */
  size_t rank;
  const void* data;
  size_t byte_size; /* must be what type and dims need; elements below a byte have one each; bools are 0 or 1 */
} ingot_input;

typedef struct ingot_outputs ingot_outputs;
/* All outputs of the model, in its order. */
ingot_status ingot_session_run(const ingot_session* session, const ingot_input* inputs, size_t input_count,
                               ingot_outputs** outputs, ingot_error** error);
void ingot_outputs_free(ingot_outputs* outputs);

size_t ingot_outputs_count(const ingot_outputs* outputs);
/* NULL: there is none of this number. */
const char* ingot_output_name(const ingot_outputs* outputs, size_t index);
/* A tensor that came out; INGOT_UNSUPPORTED for sequences, maps and empty optionals. For strings `data` is NULL: see
 * ingot_output_string. What the pointers lead to lives as long as `outputs`. */
typedef struct {
  ingot_dtype dtype;
  const int64_t* dims;
  size_t rank;
  const void* data;
  size_t byte_size;
  size_t element_count;
} ingot_tensor;
ingot_status ingot_output_tensor(const ingot_outputs* outputs, size_t index, ingot_tensor* tensor, ingot_error** error);
/* One element of a tensor of strings, with its length, since it may hold zero bytes; NULL: there is no such element. */
const char* ingot_output_string(const ingot_outputs* outputs, size_t index, size_t element, size_t* length);

#ifdef __cplusplus
}
#endif

#endif
