#pragma once
#include <optional>
#include <string_view>

#include "ingot/base/dtype.h"
#include "ingot/ir/attribute_type.h"

// The words of the text syntax that printer and parser share.
namespace ingot::onnx {

/// Letters, digits and underscores, no digit first.
bool is_identifier(std::string_view text);
/// Identifiers joined by dots.
bool is_qualified_identifier(std::string_view text);
/// Whether a name must be quoted although it is an identifier: it would be taken for a type or a number.
bool is_reserved(std::string_view identifier);
/// Whether a type begins with this word.
bool is_type_word(std::string_view word);

/// "float", "ints", "type_proto", ...; empty for types that have no word.
std::string_view word_of(AttrType type);
std::optional<AttrType> attr_type_from_word(std::string_view word);

/// Element types, "undefined" included.
std::optional<DType> element_type_from_word(std::string_view word);

bool is_utf8(std::string_view text);
/// Whether text can stand in quotes: UTF-8 without control characters but tab and newline.
bool is_printable(std::string_view text);

}  // namespace ingot::onnx
