// Texts that are looked up: hash tables, which SavedModels fill from files beside them.
#include <algorithm>

#include "ingot/backends/tensorflow/rows.h"
#include "ingot/backends/tensorflow/tables.h"
#include "ingot/ops/ml/label_encoder.h"

namespace ingot::backends::tensorflow {
namespace {

using Strings = std::vector<std::string>;

Tensor fallback_of(const Attributes& a, DType type) {
  if (const auto* t = a.get<Tensor>("default_tensor")) return t->reshaped({});
  if (type == DType::string) return Tensor::of_strings({}, {a.string_or("default_string", "_Unused")});
  return Tensor::scalar<std::int64_t>(a.int_or("default_int64", -1));
}

bool counts(const Tensor& t) {
  if (t.dtype() != DType::i64) return false;
  const Ints numbers = t.to_ints();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

/// Whether texts can stand in lines, of one column or of two.
bool fit_lines(const Tensor& texts, const char* separators) {
  return std::ranges::none_of(texts.strings(),
                              [&](const std::string& s) { return s.empty() || s.find_first_of(separators) != s.npos; });
}

Strings words_of(const Tensor& t) {
  if (t.dtype() == DType::string) return {t.strings().begin(), t.strings().end()};
  Strings words;
  for (const std::int64_t i : t.to_ints()) words.push_back(std::to_string(i));
  return words;
}

}  // namespace

std::optional<Encoding> encoding_of(const Node& node) {
  const auto keys = ops::label_list(node.attributes, "keys"), values = ops::label_list(node.attributes, "values");
  if (!keys || !values || keys->size() != values->size() || !keys->size()) return std::nullopt;
  const auto is_held = [](DType t) { return t == DType::string || t == DType::i64; };
  if (!is_held(keys->dtype()) || !is_held(values->dtype())) return std::nullopt;
  if (keys->dtype() != DType::string && values->dtype() != DType::string) return std::nullopt;
  return Encoding{*keys, *values, fallback_of(node.attributes, values->dtype())};
}

std::optional<TableText> text_of(const Table& table) {
  constexpr const char* kLines = "\r\n";
  constexpr const char* kColumns = "\r\n\t";
  TableText made;
  const bool has_text_keys = table.keys.dtype() == DType::string,
             has_text_values = table.values.dtype() == DType::string;
  if (has_text_keys && counts(table.values) && fit_lines(table.keys, kLines)) {
    made.key_index = -2;
    made.value_index = -1;
    for (const std::string& key : table.keys.strings()) made.text += key + "\n";
    return made;
  }
  if (has_text_values && counts(table.keys) && fit_lines(table.values, kLines)) {
    made.key_index = -1;
    made.value_index = -2;
    for (const std::string& value : table.values.strings()) made.text += value + "\n";
    return made;
  }
  if ((has_text_keys && !fit_lines(table.keys, kColumns)) || (has_text_values && !fit_lines(table.values, kColumns)))
    return std::nullopt;
  const Strings keys = words_of(table.keys), values = words_of(table.values);
  for (std::size_t i = 0; i < keys.size(); ++i) made.text += keys[i] + "\t" + values[i] + "\n";
  return made;
}

void emit_label_encoder(NodeOut& n) {
  const Encoding encoding = *encoding_of(n.node);
  const Ref table = n.e.table(encoding.keys, encoding.values);
  n.set(n.e.add("LookupTableFindV2", {table, n.in(0), n.e.constant(encoding.fallback)}));
}
Refused refuse_label_encoder(const Node& n, Dialect) {
  if (n.graph().parent()) return Refusal{Kind::structure, "tables belong to the model's own graph"};
  if (!encoding_of(n)) return Refusal{Kind::element_type, "TensorFlow's tables hold no such keys and values"};
  return {};
}

}  // namespace ingot::backends::tensorflow
