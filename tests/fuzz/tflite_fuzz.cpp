// Fuzzes the TFLite reader: whatever is read can be written and is then the same again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "ingot/base/bytes.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/flexbuffer.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"

namespace {

using namespace ingot;
using namespace ingot::formats::tflite;

void read_custom_options(const Model& model) {
  for (const SubGraph& graph : model.subgraphs)
    for (const Operator& op : graph.operators) {
      try {
        read_flexbuffer(op.custom_options);
      } catch (const Error&) {
        // operators may keep their options in any form
      }
    }
}

void write_and_read_again(const Model& model) {
  const std::string inside = to_bytes(model);
  if (to_bytes(read(Bytes::own(inside))) != inside) std::abort();
  const std::string behind = to_bytes(model, {.largest_flatbuffer = 0});
  if (to_bytes(read(Bytes::own(behind))) != inside) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Model model;
  try {
    model = read(Bytes::copy(std::as_bytes(std::span(data, size))));
  } catch (const Error&) {
    return 0;  // refused, as it should be
  }
  read_custom_options(model);
  for (const SubGraph& graph : model.subgraphs)
    for (const Operator& op : graph.operators)
      if (op.options.is_unknown()) return 0;  // read, but not to be written
  write_and_read_again(model);
  return 0;
}
