#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace ingot::formats::pickle {

// What protocol 0 writes as text.

/// The content of a quoted Python 2 string with its escapes; nothing: it is not one.
std::optional<std::string> unquoted(std::string_view literal);
/// "raw-unicode-escape" as UTF-8; nothing: an escape is damaged.
std::optional<std::string> raw_unicode(std::string_view text);
/// The code points of a text, each as one byte; nothing: one does not fit. What _codecs.encode(text, "latin1") gives.
std::optional<std::string> latin1(std::string_view utf8);

}  // namespace ingot::formats::pickle
