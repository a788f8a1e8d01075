#pragma once
#include "ingot/formats/pickle/numpy.h"

namespace ingot::formats::pickle {

/// One element as double; integers of 64 bits may round. Throws for what is no number.
double element(const Dtype& type, const std::byte* at);
/// UCS-4 or bytes, without the zeros that fill them up, as UTF-8.
std::string text_element(const Dtype& type, const std::byte* at);

}  // namespace ingot::formats::pickle
