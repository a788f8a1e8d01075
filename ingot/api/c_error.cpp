// Errors across the C interface.
#include "ingot/api/c_handles.h"

namespace ingot {
namespace {

/// Where there is no memory to tell that there is none.
ingot_error no_memory{INGOT_LIMIT, static_cast<int32_t>(Code::out_of_memory), {}, {}, {}};

ingot_status keep(ingot_error** out, const Error& error) noexcept {
  const auto status = static_cast<ingot_status>(error.exit_code());
  if (!out) return status;
  try {
    *out =
        new ingot_error{status, static_cast<int32_t>(error.code()), error.message(), error.hint_text(), error.what()};
  } catch (...) {
    *out = &no_memory;
    return INGOT_LIMIT;
  }
  return status;
}

}  // namespace

ingot_status report_exception(ingot_error** error) noexcept {
  try {
    try {
      throw;
    } catch (const Error& e) {
      return keep(error, e);
    } catch (const std::bad_alloc&) {
      return keep(error, Error(Code::out_of_memory, "there is no memory left"));
    } catch (const std::exception& e) {
      return keep(error, Error(Code::internal, e.what()));
    } catch (...) {
      return keep(error, Error(Code::internal, "an exception of an unknown type"));
    }
  } catch (...) {  // no memory for the words
    if (error) *error = &no_memory;
    return INGOT_LIMIT;
  }
}

}  // namespace ingot

extern "C" {

int32_t ingot_c_version(void) { return INGOT_C_VERSION; }
const char* ingot_version(void) { return INGOT_VERSION; }

int32_t ingot_error_code(const ingot_error* error) { return error ? error->code : 0; }
const char* ingot_error_message(const ingot_error* error) {
  if (error == &ingot::no_memory) return "there is no memory left";
  return error ? error->message.c_str() : "";
}
const char* ingot_error_hint(const ingot_error* error) { return error ? error->hint.c_str() : ""; }
const char* ingot_error_text(const ingot_error* error) {
  if (error == &ingot::no_memory) return "there is no memory left [IG1205]";
  return error ? error->text.c_str() : "";
}
void ingot_error_free(ingot_error* error) {
  if (error != &ingot::no_memory) delete error;
}

}  // extern "C"
