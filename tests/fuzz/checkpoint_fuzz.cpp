// Fuzzes checkpoints. Checksums would keep a fuzzer out: the input is one block of the index, to which this adds what
// makes a table of it, and the data file. The first byte says how the block is stored, the next two how long it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/checkpoint.h"
#include "tests/formats/tensorflow/table_writer.h"

namespace {

using namespace ingot;
namespace tf = formats::tensorflow;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t length = std::min<std::size_t>(rest.size(), data[1] + std::size_t{256} * data[2]);
  Budget budget({.memory = std::uint64_t{16} << 20, .time = std::chrono::seconds(2)});
  try {
    const Bytes index = Bytes::own(test::table_of(rest.substr(0, length), static_cast<char>(data[0] % 3)));
    const Bytes shard = Bytes::own(std::string(rest.substr(length)));
    const tf::Checkpoint checkpoint = tf::Checkpoint::of(index, {shard}, budget);
    for (const std::string& key : checkpoint.keys()) try {
        (void)checkpoint.read(key, budget);
      } catch (const Error&) {
        // the next entry may be sound
      }
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
