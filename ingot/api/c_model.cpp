// Models across the C interface.
#include "ingot/api/c_handles.h"
#include "ingot/driver/load.h"

namespace {

std::vector<ingot_model::Port> spelt(const std::vector<ingot::PortView>& ports) {
  std::vector<ingot_model::Port> all;
  for (const ingot::PortView& port : ports) all.push_back({port.name, port.type.str()});
  return all;
}

using Port = ingot_model::Port;

/// A text of one of the model's inputs, or outputs; null where there is none.
const char* text_of(const ingot_model* model, std::vector<Port> ingot_model::*ports, size_t index,
                    std::string Port::*text) {
  return model && index < (model->*ports).size() ? ((model->*ports)[index].*text).c_str() : nullptr;
}

const ingot::driver::Format* format_or_null(const char* name) {
  return name ? &ingot::driver::format_by_name(name) : nullptr;
}

}  // namespace

ingot_model::ingot_model(ingot::Model loaded)
    : model(std::move(loaded)), inputs(spelt(ingot::inputs_of(model))), outputs(spelt(ingot::outputs_of(model))) {}

extern "C" {

ingot_status ingot_model_load(const char* path, const char* format, ingot_model** model, ingot_error** error) {
  return ingot::guarded(error, [&] {
    *ingot::required(model, "model") = nullptr;
    ingot::driver::LoadOptions options;
    options.from = format_or_null(format);
    *model = new ingot_model(ingot::driver::load(ingot::required(path, "path"), options).model);
  });
}

ingot_status ingot_model_load_memory(const void* data, size_t size, const char* format, ingot_model** model,
                                     ingot_error** error) {
  return ingot::guarded(error, [&] {
    *ingot::required(model, "model") = nullptr;
    if (size) ingot::required(data, "data");
    ingot::driver::LoadOptions options;
    options.from = format_or_null(format);
    const ingot::Bytes bytes = ingot::Bytes::copy({static_cast<const std::byte*>(data), size});
    *model = new ingot_model(ingot::driver::load_memory(bytes, options).model);
  });
}

ingot_status ingot_model_save(const ingot_model* model, const char* path, const char* format, ingot_error** error) {
  return ingot::guarded(error, [&] {
    ingot::driver::SaveOptions options;
    options.to = format_or_null(format);
    ingot::driver::save(ingot::required(model, "model")->model, ingot::required(path, "path"), options);
  });
}

void ingot_model_free(ingot_model* model) { delete model; }

int64_t ingot_model_opset(const ingot_model* model, const char* domain) {
  return model ? model->model.opsets.version(domain ? domain : "") : 0;
}

size_t ingot_model_input_count(const ingot_model* model) { return model ? model->inputs.size() : 0; }
size_t ingot_model_output_count(const ingot_model* model) { return model ? model->outputs.size() : 0; }

const char* ingot_model_input_name(const ingot_model* model, size_t index) {
  return text_of(model, &ingot_model::inputs, index, &Port::name);
}
const char* ingot_model_input_type(const ingot_model* model, size_t index) {
  return text_of(model, &ingot_model::inputs, index, &Port::type);
}
const char* ingot_model_output_name(const ingot_model* model, size_t index) {
  return text_of(model, &ingot_model::outputs, index, &Port::name);
}
const char* ingot_model_output_type(const ingot_model* model, size_t index) {
  return text_of(model, &ingot_model::outputs, index, &Port::type);
}

}  // extern "C"
