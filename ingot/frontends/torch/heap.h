#pragma once
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ingot/frontends/torch/item.h"

namespace ingot::frontends::torch {

/// What code can change in place: a tensor's value, a list, a dictionary, an attribute of an object.
struct Place {
  std::variant<TensorRef, ListRef, DictRef, ObjectRef> owner;
  std::string attribute{};  // of an object

  const void* identity() const;
};

struct Contents {
  Value* tensor = nullptr;
  std::vector<Item> items{};
  std::vector<std::pair<Item, Item>> entries{};
  Item attribute{};
};

Contents contents_of(const Place& place);
void restore(const Place& place, const Contents& contents);

/// Notes what was changed since when, so that a branch can be followed and taken back.
class Journal {
 public:
  struct Change {
    Place place;
    Contents before;
  };
  using Changes = std::vector<Change>;

  /// Must be told before a place is changed.
  void changing(const Place& place);

  /// Until the recording ends, each place's contents before its first change are kept.
  void begin() { open_.emplace_back(); }
  Changes end();

 private:
  struct Recording {
    Changes changes;
    std::map<std::pair<const void*, std::string>, std::size_t> known;
  };
  std::vector<Recording> open_;
};

}  // namespace ingot::frontends::torch
