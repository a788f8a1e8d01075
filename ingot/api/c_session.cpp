// Running across the C interface.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "ingot/api/c_handles.h"
#include "ingot/ops/infer.h"

namespace {

using ingot::Array;
using ingot::Code;
using ingot::DType;
using ingot::Error;

ingot::Limits limits_of(const ingot_session_options& options) {
  ingot::Limits limits;
  if (options.memory) limits.memory = options.memory;
  if (options.time_ms) {
    const auto most = static_cast<std::uint64_t>(std::chrono::milliseconds::max().count());
    limits.time = std::chrono::milliseconds(std::min(options.time_ms, most));
  }
  return limits;
}

ingot::SessionOptions options_of(const ingot_session_options& options, ingot::Budget& budget) {
  ingot::SessionOptions own;
  own.budget = &budget;
  own.threads = options.threads;
  own.is_fast = !options.reference;
  own.requires_valid = !options.unchecked;
  return own;
}

/// What the caller's header has of the options; what it does not know is zero.
ingot_session_options copied(const ingot_session_options* given) {
  ingot_session_options all{};
  if (!given) return all;
  if (given->size < sizeof given->size || given->size > sizeof all)
    throw Error(Code::bad_usage, "the options are of another size than any that this version knows")
        .hint("set options.size to sizeof(ingot_session_options), and compare ingot_c_version() with INGOT_C_VERSION");
  std::memcpy(&all, given, given->size);
  return all;
}

/// Bytes of one element, which has at least one of its own.
std::size_t width_of(DType dtype) { return std::max<std::size_t>(1, ingot::bits_of(dtype) / 8); }

[[noreturn]] void refuse_input(const ingot_input& input, const std::string& why) {
  throw Error(Code::bad_usage, std::string("input '") + input.name + "': " + why);
}

std::uint64_t size_of(const ingot_input& input, const ingot::Dims& dims) {
  try {
    return static_cast<std::uint64_t>(ingot::tensor_size(dims));
  } catch (const Error& error) {
    refuse_input(input, error.message());
  }
}

Array array_of(const ingot_input& input) {
  ingot::required(input.name, "inputs[i].name");
  if (!ingot::is_valid_dtype(input.dtype)) refuse_input(input, "the element type does not exist");
  const auto dtype = static_cast<DType>(input.dtype);
  if (dtype == DType::string) refuse_input(input, "strings cannot be given through the C interface");
  if (input.rank && !input.dims) refuse_input(input, "dims is NULL");
  if (input.rank > ingot::ops::kMostDims)
    refuse_input(input, std::to_string(input.rank) + " dimensions are more than any tensor has");
  const ingot::Dims dims(input.dims, input.dims + input.rank);
  const std::uint64_t elements = size_of(input, dims);
  const std::size_t width = width_of(dtype);
  if (input.byte_size % width != 0 || input.byte_size / width != elements)
    refuse_input(input, std::to_string(input.byte_size) + " bytes do not fit the type and the dimensions");
  if (elements && !input.data) refuse_input(input, "data is NULL");
  const std::size_t alignment = ingot::is_complex(dtype) ? width / 2 : width;
  if (reinterpret_cast<std::uintptr_t>(input.data) % alignment != 0)
    refuse_input(input, "data is not aligned as the element type is");
  const auto* bytes = static_cast<const unsigned char*>(input.data);
  if (dtype == DType::boolean && std::any_of(bytes, bytes + input.byte_size, [](unsigned char b) { return b > 1; }))
    refuse_input(input, "a bool is a byte that is 0 or 1");
  return Array::view(dtype, dims, const_cast<void*>(input.data));  // runs never write to what comes in
}

const Array* array_at(const ingot_outputs* outputs, size_t index) {
  return outputs && index < outputs->values.size() ? outputs->values[index].value.array() : nullptr;
}

}  // namespace

ingot_session::ingot_session(const ingot::Model& model, const ingot_session_options& options)
    : budget(limits_of(options)), session(model, options_of(options, budget)) {}

extern "C" {

ingot_status ingot_session_create(const ingot_model* model, const ingot_session_options* options,
                                  ingot_session** session, ingot_error** error) {
  return ingot::guarded(error, [&] {
    *ingot::required(session, "session") = nullptr;
    *session = new ingot_session(ingot::required(model, "model")->model, copied(options));
  });
}

void ingot_session_cancel(ingot_session* session) {
  if (session) session->budget.cancel();
}
void ingot_session_free(ingot_session* session) { delete session; }

ingot_status ingot_session_run(const ingot_session* session, const ingot_input* inputs, size_t input_count,
                               ingot_outputs** outputs, ingot_error** error) {
  return ingot::guarded(error, [&] {
    *ingot::required(outputs, "outputs") = nullptr;
    ingot::required(session, "session");
    if (input_count) ingot::required(inputs, "inputs");
    std::vector<ingot::NamedDatum> given;
    for (size_t i = 0; i < input_count; ++i) {
      Array array = array_of(inputs[i]);
      given.push_back({inputs[i].name, std::move(array)});
    }
    *outputs = new ingot_outputs{session->session.run(given)};
  });
}

void ingot_outputs_free(ingot_outputs* outputs) { delete outputs; }

size_t ingot_outputs_count(const ingot_outputs* outputs) { return outputs ? outputs->values.size() : 0; }

const char* ingot_output_name(const ingot_outputs* outputs, size_t index) {
  return outputs && index < outputs->values.size() ? outputs->values[index].name.c_str() : nullptr;
}

ingot_status ingot_output_tensor(const ingot_outputs* outputs, size_t index, ingot_tensor* tensor,
                                 ingot_error** error) {
  return ingot::guarded(error, [&] {
    *ingot::required(tensor, "tensor") = {};
    if (index >= ingot::required(outputs, "outputs")->values.size())
      throw Error(Code::bad_usage, "there is no output number " + std::to_string(index));
    const Array* array = array_at(outputs, index);
    if (!array)
      throw Error(Code::unsupported_feature, "output '" + outputs->values[index].name + "' is no tensor")
          .hint("sequences, maps and optionals are read through the C++ interface");
    const bool is_text = array->dtype() == DType::string;
    *tensor = {static_cast<ingot_dtype>(array->dtype()),
               array->dims().data(),
               array->dims().size(),
               is_text ? nullptr : array->bytes(),
               is_text ? 0 : array->byte_size(),
               static_cast<size_t>(array->size())};
  });
}

const char* ingot_output_string(const ingot_outputs* outputs, size_t index, size_t element, size_t* length) {
  if (length) *length = 0;
  const Array* array = array_at(outputs, index);
  if (!array || array->dtype() != DType::string || element >= static_cast<size_t>(array->size())) return nullptr;
  const std::string& text = array->data<std::string>()[element];
  if (length) *length = text.size();
  return text.c_str();
}

}  // extern "C"
