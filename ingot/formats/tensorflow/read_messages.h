#pragma once
// The readers of single messages, for the readers of whole files.
#include "ingot/formats/protobuf/wire_reader.h"
#include "ingot/formats/tensorflow/reader.h"

namespace ingot::formats::tensorflow {

TensorShape read_shape(protobuf::Reader r);
/// `type`: of a tensor that does not say its own.
TensorProto read_tensor(protobuf::Reader r, DataType type = DataType::invalid);
GraphDef read_graph(protobuf::Reader r, Budget& budget);
MetaGraph read_meta_graph(protobuf::Reader r, Budget& budget);
Signature read_signature(std::string key, protobuf::Reader r);
ObjectGraph read_object_graph(protobuf::Reader r);

/// One entry of a map<string, Message>: calls read(key, reader of the value).
template <class Read> void read_map_entry(protobuf::Reader r, Read&& read) {
  std::string key;
  protobuf::Reader value{Bytes()};
  while (r.next()) {
    if (r.field() == 1) key = r.string();
    if (r.field() == 2) value = r.message();
  }
  read(std::move(key), std::move(value));
}

}  // namespace ingot::formats::tensorflow
