#pragma once
#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// The indices of words, or of numbers, as Keras's vocabularies give them.
struct Lookup {
  std::vector<std::string> words;
  Ints indices;               // of the words
  std::int64_t unknown = -1;  // of what is not among them; -1: nothing may be, or it is told apart by `spread`
  std::int64_t spread = 0;    // so many indices, from `first_unknown` on, are for what is not among the words
  std::int64_t first_unknown = 0;
  std::int64_t size = 0;  // all indices are below
  std::string mode;       // how the indices are given out
};

/// Of the layer's configuration or of the asset beside its weights. `mask`: a text that stands for nothing.
Lookup lookup_of(Call& call, const std::optional<std::string>& mask);
/// The index of each text or number; of the mask, in other modes than "int", one that no category has.
IrValue* indices_of(Call& call, const Lookup& lookup, IrValue* x);
/// Indices as the layer gives them out.
IrValue* given_out(Call& call, const Lookup& lookup, IrValue* index);

}  // namespace ingot::frontends::keras
