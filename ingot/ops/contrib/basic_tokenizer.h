#pragma once
#include <vector>

#include "ingot/ops/contrib/texts.h"

namespace ingot::ops {

/// How BERT cuts a text into words before it looks them up.
struct BasicRules {
  bool lower_case = true, chinese = true, strip_accents = false, punctuation = false, remove_control = true;
};

std::vector<Codes> basic_words(std::string_view text, const BasicRules& rules);

/// Punctuation as the extensions know it.
bool is_extension_punctuation(char32_t code);

}  // namespace ingot::ops
