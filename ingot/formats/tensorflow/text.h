#pragma once
#include <string>
#include <string_view>

#include "ingot/formats/tensorflow/schema.h"

namespace ingot::formats::tensorflow {

/// A message in protobuf's text syntax (.pbtxt) as its binary form. Fields that Ingot does not know are left out.
/// Errors name the line.
std::string binary_of_text(std::string_view text, Message message);

/// The name of the field with which a text begins; nothing if it is no such text.
std::string first_field(std::string_view text);

}  // namespace ingot::formats::tensorflow
