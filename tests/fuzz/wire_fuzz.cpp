// Fuzzes the protobuf wire layer: whatever is read can be written again, byte for byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/error.h"
#include "ingot/formats/protobuf/wire_reader.h"
#include "ingot/formats/protobuf/wire_writer.h"

namespace {

using namespace ingot;
using namespace ingot::formats::protobuf;

/// Reads the current field in the way its number asks for, right or wrong for its wire type.
void read_field(const Reader& r) {
  std::vector<std::int64_t> ints;
  std::vector<std::int32_t> int32s;
  std::vector<std::uint64_t> uint64s;
  std::vector<float> floats;
  std::vector<double> doubles;
  switch (r.field() % 11) {
    case 1:
      return r.ints(ints);
    case 2:
      return r.int32s(int32s);
    case 3:
      return r.uint64s(uint64s);
    case 4:
      return r.floats(floats);
    case 5:
      return r.doubles(doubles);
    case 6:
      return void(r.int64());
    case 7:
      return void(r.int32());
    case 8:
      return void(r.fixed_float());
    case 9:
      return void(r.fixed_double());
    case 10:
      return void(r.string());
    default:
      return r.skip();
  }
}

/// Walks a message and those inside it; the reader's own cap ends the recursion.
void walk(Reader r) {
  while (r.next()) {
    try {
      read_field(r);
    } catch (const Error&) {
      // the field has another type; the message goes on
    }
    if (r.type() != WireType::length) continue;
    try {
      walk(r.message());
    } catch (const Error&) {
      // a string or bytes that is no message
    }
  }
}

/// A message copied field by field is the message.
void copy(const Bytes& message) {
  std::vector<Bytes> fields;
  for (Reader r(message); r.next();) fields.push_back(r.raw_field());
  const std::string copied = serialize([&](Writer& w) {
    for (const Bytes& field : fields) w.raw_field(field);
  });
  if (copied != message.text()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes message = Bytes::copy(std::as_bytes(std::span(data, size)));
  try {
    walk(Reader(message));
    copy(message);
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
