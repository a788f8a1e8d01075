// Checkpoints of version 1: one table whose header has names, types and shapes and whose entries have the values.
#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/checkpoint_slices.h"
#include "ingot/formats/tensorflow/read_messages.h"

namespace ingot::formats::tensorflow {
namespace {

struct Piece {
  std::vector<SliceExtent> slice;
  TensorProto values;
};

struct Stored {
  DataType dtype = DataType::invalid;
  TensorShape shape{};
  std::vector<Piece> pieces{};
};

using Variables = std::map<std::string, Stored>;

Variables read_header(const Bytes& header) {
  Variables variables;
  for (protobuf::Reader r(header); r.next();) {
    if (r.field() != 1) continue;
    for (protobuf::Reader meta = r.message(); meta.next();) {
      if (meta.field() != 1) continue;
      std::string name;
      Stored stored;
      for (protobuf::Reader t = meta.message(); t.next();) {
        if (t.field() == 1) name = t.string();
        if (t.field() == 2) stored.shape = read_shape(t.message());
        if (t.field() == 3) stored.dtype = data_type_of(t.int64());
      }
      variables.insert_or_assign(std::move(name), std::move(stored));
    }
  }
  return variables;
}

void read_piece(protobuf::Reader message, Variables& variables) {
  std::string name;
  std::optional<protobuf::Reader> values;
  Piece piece;
  while (message.next()) {
    if (message.field() == 1) name = message.string();
    if (message.field() == 2) piece.slice = read_slice(message.message());
    if (message.field() == 3) values = message.message();
  }
  const auto found = variables.find(name);
  if (found == variables.end() || !values) return;
  piece.values = read_tensor(*values, found->second.dtype);  // the header alone knows the type
  found->second.pieces.push_back(std::move(piece));
}

bool is_whole(const Piece& piece) {
  return std::ranges::all_of(piece.slice, [](const SliceExtent& e) { return e.start == 0 && e.length < 0; });
}

TensorProto value_of(Stored& stored, Budget& budget) {
  if (is_whole(stored.pieces.back())) {
    TensorProto value = std::move(stored.pieces.back().values);
    value.shape = std::move(stored.shape);
    value.dtype = stored.dtype;
    return value;
  }
  std::uint64_t available = 0;
  for (const Piece& piece : stored.pieces) available += piece.values.elements.size();
  SlicedTensor tensor(stored.dtype, std::move(stored.shape), available, budget);
  for (const Piece& piece : stored.pieces) tensor.place(piece.slice, piece.values.elements);
  return tensor.finish();
}

}  // namespace

bool is_version_1(const Bytes& header) {
  for (protobuf::Reader r(header); r.next();)
    if (r.field() == 1) return r.type() == protobuf::WireType::length;
  return false;
}

std::map<std::string, TensorProto> read_version_1(const std::map<std::string, Bytes>& table, Budget& budget) {
  Variables variables = read_header(table.at(""));
  for (const auto& [key, value] : table) {
    if (key.empty()) continue;
    for (protobuf::Reader r(value); r.next();)
      if (r.field() == 2) read_piece(r.message(), variables);
  }
  std::map<std::string, TensorProto> values;
  for (auto& [name, stored] : variables) {
    if (stored.pieces.empty()) continue;
    try {
      values.emplace(name, value_of(stored, budget));
    } catch (const Error& error) {
      throw Error(error.code(), "variable '" + name + "': " + error.message());
    }
  }
  return values;
}

}  // namespace ingot::formats::tensorflow
