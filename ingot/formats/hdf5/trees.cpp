// B-trees of both versions, walked once.
#include "ingot/formats/hdf5/trees.h"

#include <unordered_set>
#include <vector>

#include "ingot/base/checked.h"

namespace ingot::formats::hdf5 {
namespace {

constexpr unsigned kDeepest = 64;

/// Sizes that follow from those of a node and a record.
struct Level {
  std::uint64_t most = 0;      // records of a node
  std::uint64_t all_most = 0;  // records of a whole tree of this depth
  unsigned count_width = 0;    // of the number of all records in a child's entry
};

struct Tree {
  std::uint64_t node_size = 0, record_size = 0;
  unsigned type = 0, depth = 0;
  std::uint64_t root = 0, root_records = 0;
  std::vector<Level> levels{};
};

Tree read_head(const Space& space, std::uint64_t address) {
  const unsigned o = space.offset_size(), l = space.length_size();
  ByteReader in = space.checked_reader(address, 16 + o + 2 + l + 4, "BTHD");
  if (in.u8() != 0) refuse("a tree is of an unknown version");
  Tree tree;
  tree.type = in.u8();
  tree.node_size = in.u32();
  tree.record_size = in.u16();
  tree.depth = in.u16();
  in.skip(2);
  tree.root = space.offset(in);
  tree.root_records = in.u16();
  if (tree.record_size == 0 || tree.depth > kDeepest || tree.node_size < 16) refuse("a tree is impossible");
  Level leaf;
  leaf.most = leaf.all_most = (tree.node_size - 10) / tree.record_size;
  tree.levels.push_back(leaf);
  for (unsigned i = 1; i <= tree.depth; ++i) {
    const Level& below = tree.levels.back();
    Level level;
    const std::uint64_t pointer = o + width_of(leaf.most) + below.count_width;
    if (tree.node_size < 10 + pointer) refuse("a tree is impossible");
    level.most = (tree.node_size - 10 - pointer) / (tree.record_size + pointer);
    const auto product = checked_mul(level.most + 1, below.all_most);
    const auto sum = product ? checked_add(*product, level.most) : std::nullopt;
    if (!sum) refuse("a tree is too deep");
    level.all_most = *sum;
    level.count_width = width_of(level.all_most);
    tree.levels.push_back(level);
  }
  return tree;
}

}  // namespace

void walk_old_tree(const Space& space, std::uint64_t address, unsigned node_type, std::uint64_t key_size,
                   const std::function<void(ByteReader key, std::uint64_t child)>& visit) {
  std::vector<std::uint64_t> stack{address};
  std::unordered_set<std::uint64_t> seen;
  while (!stack.empty()) {
    const std::uint64_t at = stack.back();
    stack.pop_back();
    if (!seen.insert(at).second) refuse("a tree leads back to itself");
    const unsigned o = space.offset_size();
    ByteReader head = space.reader(at, 8 + 2 * o);
    expect_signature(head, "TREE");
    if (head.u8() != node_type) refuse("a tree holds something else than it should");
    const unsigned level = head.u8(), used = head.u16();
    ByteReader in = space.reader(at + 8 + 2 * o, used * (key_size + o));
    std::vector<std::uint64_t> children;
    for (unsigned i = 0; i < used; ++i) {
      const std::size_t where = in.offset();
      const ByteReader key(in.bytes(key_size), where);
      const std::uint64_t child = space.offset(in);
      if (level == 0)
        visit(key, child);
      else
        children.push_back(child);
    }
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
}

unsigned tree_type(const Space& space, std::uint64_t address) { return read_head(space, address).type; }

void walk_tree(const Space& space, std::uint64_t address, unsigned type,
               const std::function<void(ByteReader record)>& visit) {
  const Tree tree = read_head(space, address);
  if (tree.type != type) refuse("a tree holds something else than it should");
  if (tree.root_records == 0 || space.is_undefined(tree.root)) return;
  struct Place {
    std::uint64_t address, records;
    unsigned depth;
  };
  std::vector<Place> stack{{tree.root, tree.root_records, tree.depth}};
  std::unordered_set<std::uint64_t> seen;
  while (!stack.empty()) {
    const Place place = stack.back();
    stack.pop_back();
    if (!seen.insert(place.address).second) refuse("a tree leads back to itself");
    const unsigned o = space.offset_size(), few = width_of(tree.levels[0].most);
    const unsigned all = place.depth ? tree.levels[place.depth - 1].count_width : 0;
    std::uint64_t size = 10 + place.records * tree.record_size;
    if (place.depth) size += (place.records + 1) * (o + few + all);
    ByteReader in = space.checked_reader(place.address, size, place.depth ? "BTIN" : "BTLF");
    in.skip(2);
    for (std::uint64_t i = 0; i < place.records; ++i) {
      const std::size_t where = in.offset();
      visit(ByteReader(in.bytes(tree.record_size), where));
    }
    for (std::uint64_t i = 0; place.depth && i <= place.records; ++i) {
      const std::uint64_t child = space.offset(in);
      const std::uint64_t records = read_number(in, few);
      in.skip(all);
      stack.push_back({child, records, place.depth - 1});
    }
  }
}

}  // namespace ingot::formats::hdf5
