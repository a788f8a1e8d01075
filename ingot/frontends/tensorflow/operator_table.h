#pragma once
#include "ingot/frontends/tensorflow/node.h"
#include "ingot/frontends/translator.h"

namespace ingot::frontends::tensorflow {

using Row = Translator<Operands(const TfNode&, GraphBuilder&)>;

/// All rows, sorted by name.
std::span<const Row> all_rows();
/// Null: there is no translation.
const Row* find_row(std::string_view op);

}  // namespace ingot::frontends::tensorflow
