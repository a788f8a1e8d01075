#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "ingot/passes/layout/axes.h"

namespace ingot::passes {

/// Which layout the data of each value have as the model stands: known at spatial operators and at transposes between
/// layouts, carried on by the operators between them. Sets of values whose layouts are equal or opposite.
class LayoutTags {
 public:
  /// States that must not contradict what was stated before; false: they do, and nothing changes.
  bool fix(const Value* value, Layout layout);
  bool relate(const Value* a, const Value* b, bool are_opposite);
  /// Where nothing tells, channels first for one of a set, and for the others what follows from it.
  Layout of(const Value* value) const;
  /// Nothing where nothing tells.
  std::optional<Layout> known(const Value* value) const;

 private:
  struct Member {
    int parent;
    bool is_opposite;  // to the parent
    int size = 1;
    std::optional<Layout> layout{};  // of a root
  };
  struct Root {
    int index;
    bool is_opposite;
  };
  int index_of(const Value* value);
  Root root_of(int index);

  std::unordered_map<const Value*, int> index_;
  std::vector<Member> members_;
};

}  // namespace ingot::passes
