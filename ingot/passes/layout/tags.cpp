// Union-find with parity over the layouts that the model's values have.
#include "ingot/passes/layout/tags.h"

#include <algorithm>

namespace ingot::passes {
namespace {

Layout turned(Layout layout, bool is_opposite) { return is_opposite ? other(layout) : layout; }

}  // namespace

int LayoutTags::index_of(const Value* value) {
  const auto [found, is_new] = index_.try_emplace(value, static_cast<int>(members_.size()));
  if (is_new) members_.push_back({found->second, false});
  return found->second;
}

LayoutTags::Root LayoutTags::root_of(int index) {
  bool is_opposite = false;
  const auto at = [&](int i) -> Member& { return members_[static_cast<std::size_t>(i)]; };
  while (at(index).parent != index) {
    Member& m = at(index);
    const Member& p = at(m.parent);
    if (p.parent != m.parent) {  // halve the path
      m.is_opposite ^= p.is_opposite;
      m.parent = p.parent;
    }
    is_opposite ^= m.is_opposite;
    index = m.parent;
  }
  return {index, is_opposite};
}

bool LayoutTags::fix(const Value* value, Layout layout) {
  const Root root = root_of(index_of(value));
  Member& m = members_[static_cast<std::size_t>(root.index)];
  const Layout wanted = turned(layout, root.is_opposite);
  if (m.layout) return *m.layout == wanted;
  m.layout = wanted;
  return true;
}

bool LayoutTags::relate(const Value* a, const Value* b, bool are_opposite) {
  const int ia = index_of(a), ib = index_of(b);
  Root ra = root_of(ia), rb = root_of(ib);
  const bool opposite = are_opposite != (ra.is_opposite != rb.is_opposite);  // the roots' layouts
  if (ra.index == rb.index) return !opposite;
  Member* big = &members_[static_cast<std::size_t>(ra.index)];
  Member* small = &members_[static_cast<std::size_t>(rb.index)];
  if (big->layout && small->layout && *big->layout != turned(*small->layout, opposite)) return false;
  if (big->size < small->size) {
    std::swap(big, small);
    std::swap(ra, rb);
  }
  if (!big->layout && small->layout) big->layout = turned(*small->layout, opposite);
  big->size += small->size;
  small->parent = ra.index;
  small->is_opposite = opposite;
  return true;
}

Layout LayoutTags::of(const Value* value) const {
  const auto found = index_.find(value);
  if (found == index_.end()) return Layout::channels_first;
  const Root root = const_cast<LayoutTags*>(this)->root_of(found->second);  // only shortens paths
  const Layout layout = members_[static_cast<std::size_t>(root.index)].layout.value_or(Layout::channels_first);
  return turned(layout, root.is_opposite);
}

std::optional<Layout> LayoutTags::known(const Value* value) const {
  const auto found = index_.find(value);
  if (found == index_.end()) return std::nullopt;
  const Root root = const_cast<LayoutTags*>(this)->root_of(found->second);
  return members_[static_cast<std::size_t>(root.index)].layout ? std::optional(of(value)) : std::nullopt;
}

}  // namespace ingot::passes
