#pragma once
#include "ingot/frontends/sklearn/context.h"

namespace ingot::frontends::sklearn {

/// Stands where a row has fewer tokens than another, and between words whose characters are counted apart.
inline constexpr const char* kNoToken = "\x01";

/// What a vectoriser of texts counts, or counts sequences of: words without stop words, or characters. [N, tokens] from
/// texts [N].
Value* tokens_of(Context& c, const Estimator& e, Value* texts);

/// Its tokens are characters.
bool counts_characters(const Estimator& e);

}  // namespace ingot::frontends::sklearn
