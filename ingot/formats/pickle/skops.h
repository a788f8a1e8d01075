#pragma once
#include "ingot/formats/pickle/document.h"

namespace ingot::formats::pickle {

/// Whether it is an archive with the schema of a .skops file.
bool looks_like_skops(const Bytes& file);

/// A .skops file as the document that a pickle of the same objects would be. Builds values and executes nothing.
/// The document must not outlive the budget. Throws Error(Code::bad_pickle) for what is damaged.
Document read_skops(const Bytes& file, Budget* budget = nullptr);

}  // namespace ingot::formats::pickle
