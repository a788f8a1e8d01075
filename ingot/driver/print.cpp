// A model as text for people.
#include "ingot/driver/print.h"

#include "ingot/onnx/text.h"

namespace ingot::driver {

std::string readable_text(const Model& model) { return onnx::to_text(model, onnx::TextOptions::for_people()); }

}  // namespace ingot::driver
