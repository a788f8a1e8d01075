// Fuzzes HDF5 files: whatever is read, all of it, is read within bounds, or is refused.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/hdf5/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  using namespace ingot::formats;
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5)});
  try {
    const hdf5::File file(Bytes::copy(std::as_bytes(std::span(data, size))), &budget);
    std::vector<const hdf5::Object*> stack{&file.root()};
    for (int seen = 0; !stack.empty() && seen < 1000; ++seen) {
      const hdf5::Object* object = stack.back();
      stack.pop_back();
      for (const char* name : {"layer_names", "weight_names", "model_config", "name"}) {
        try {
          (void)object->attribute(name);
        } catch (const Error&) {
        }
      }
      try {
        if (object->is_dataset()) (void)object->read();
      } catch (const Error&) {  // the others may be whole
      }
      for (const std::string& name : object->members()) stack.push_back(object->member(name));
    }
  } catch (const Error&) {  // refused, as it should be
  }
  return 0;
}
