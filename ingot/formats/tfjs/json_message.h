#pragma once
#include <string>

#include "ingot/formats/tensorflow/schema.h"

namespace simdjson::dom {
class element;
}

namespace ingot::formats::tfjs {

/// A message in protobuf's JSON form as its binary form. Fields that Ingot does not know are left out.
std::string binary_of_json(const simdjson::dom::element& json, tensorflow::Message message, int depth = 0);

/// Base64, also of the kind for addresses and without padding.
std::string from_base64(std::string_view text);

}  // namespace ingot::formats::tfjs
