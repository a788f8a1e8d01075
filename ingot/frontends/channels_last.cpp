// Transposes between channels last and channels first.
#include "ingot/frontends/channels_last.h"

#include "ingot/ir/transpose.h"

namespace ingot::frontends {

Value* channels_first(GraphBuilder& g, Value* x, std::size_t rank) { return g.transpose(x, to_channels_first(rank)); }

Value* channels_last(GraphBuilder& g, Value* x, std::size_t rank) { return g.transpose(x, to_channels_last(rank)); }

Value* filter_channels_first(GraphBuilder& g, Value* weights, std::size_t spatial) {
  const auto count = static_cast<std::int64_t>(spatial);
  std::vector<std::int64_t> perm{count + 1, count};
  for (std::int64_t i = 0; i < count; ++i) perm.push_back(i);
  return g.transpose(weights, perm);
}

}  // namespace ingot::frontends
