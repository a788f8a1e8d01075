// Fuzzes TensorFlow's files in protobuf's text syntax: what is read as text can be read again from its binary form.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/formats/tensorflow/text.h"

namespace {

using namespace ingot;
namespace tf = formats::tensorflow;

void read(std::string_view text, tf::Message message, Budget& budget) try {
  const Bytes binary = Bytes::own(tf::binary_of_text(text, message));
  switch (message) {
    case tf::Message::graph:
      return void(tf::read_graph(binary, budget));
    case tf::Message::meta_graph:
      return void(tf::read_meta_graph(binary, budget));
    default:
      return void(tf::read_saved_model(binary, budget));
  }
} catch (const Error&) {
  // refused, as it should be
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Budget budget({.memory = std::uint64_t{16} << 20, .time = std::chrono::seconds(2), .nodes = 20'000});
  (void)tf::kind_of_text(text);
  for (const tf::Message message : {tf::Message::graph, tf::Message::meta_graph, tf::Message::saved_model})
    read(text, message, budget);
  return 0;
}
