// State that ranks divide among them.
#include "ingot/train/distributed/shards.h"

#include <algorithm>

namespace ingot::train {

void Shards::share_parameters() {
  for (int owner = 0; owner < ranks_.count(); ++owner) {
    std::vector<std::string> names;
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < updates_.parameter_count; ++i) {
      const std::string& name = updates_.state[i].name;
      if (updates_.owners.at(name) != owner) continue;
      names.push_back(name);
      const Array now = runner_.state(name);
      bytes.insert(bytes.end(), now.bytes(), now.bytes() + now.byte_size());
    }
    ranks_.share(bytes, owner);
    if (owner == ranks_.rank()) continue;
    const std::byte* next = bytes.data();
    for (const std::string& name : names) {
      const Array now = runner_.state(name);
      Array moved(now.dtype(), now.dims());
      std::copy_n(next, moved.byte_size(), moved.bytes());
      next += moved.byte_size();
      runner_.set_state(name, moved);
    }
  }
}

Array Shards::fetch(const std::string& name) {
  const auto owner = updates_.owners.find(name);
  if (owner == updates_.owners.end()) return runner_.state(name);
  const Tensor& first = *updates_.model.graph->find(name)->initializer;
  Array array(first.dtype(), first.dims());
  if (owner->second == ranks_.rank()) {
    const Array own = runner_.state(name);
    std::copy_n(own.bytes(), own.byte_size(), array.bytes());
  }
  ranks_.share({array.bytes(), array.byte_size()}, owner->second);
  return array;
}

}  // namespace ingot::train
