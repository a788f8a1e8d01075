// What inference checks of sizes that several inputs share.
#include "ingot/ops/nn/agree.h"

namespace ingot::ops {

Dim agree(const InferContext& c, const Dim& a, const Dim& b, std::string_view what) {
  if (!may_equal(a, b)) c.fail(std::string(what) + " is both " + a.str() + " and " + b.str());
  if (a.is_known() || b.is_unknown()) return a;
  return b.is_known() || a.is_unknown() ? b : a;
}

void require_rank(const InferContext& c, std::size_t i, std::int64_t rank, std::string_view what) {
  const auto actual = c.rank(i);
  if (actual && *actual != rank)
    c.fail(std::string(what) + " has rank " + std::to_string(*actual) + ", not " + std::to_string(rank));
}

Dim require_vector(const InferContext& c, std::size_t i, const Dim& size, std::string_view what) {
  if (!c.has(i)) return size;
  require_rank(c, i, 1, what);
  return agree(c, size, c.dim(i, 0), "the size of " + std::string(what));
}

}  // namespace ingot::ops
