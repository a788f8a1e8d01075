#pragma once
#include <optional>
#include <string>

#include "ingot/ir/graph.h"

namespace ingot::backends::tensorflow {

/// A hash table that a graph looks texts up in.
struct Table {
  std::string node;  // of the graph: a placeholder for the table
  Tensor keys, values;
};

/// What a LabelEncoder knows, as far as TensorFlow's hash tables hold such; nothing: they do not.
struct Encoding {
  Tensor keys, values, fallback;
};
std::optional<Encoding> encoding_of(const Node& node);

/// How a table is written down as a text: a line for each entry, with its key, its value or both.
struct TableText {
  std::string text;
  std::int64_t key_index = 0, value_index = 1;  // columns; -2: the whole line, -1: its number
};
/// Nothing: the entries are no such texts.
std::optional<TableText> text_of(const Table& table);

}  // namespace ingot::backends::tensorflow
