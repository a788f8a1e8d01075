#pragma once
#include <span>
#include <string_view>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// How an operator is translated. Most make values of values; those that deal in handles and functions see operands.
struct Translator {
  std::string_view op;
  Values (*translate)(const TfNode&, GraphBuilder&) = nullptr;
  Operands (*translate_operands)(const TfNode&, GraphBuilder&) = nullptr;
};

std::span<const Translator> all_translators();
/// Null: there is none.
const Translator* find_translator(std::string_view op);

}  // namespace ingot::frontends::tensorflow
