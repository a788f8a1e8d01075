#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace ingot {

class Value;

/// The values of a graph by their names. A graph of a hundred thousand values is read, copied and searched several
/// times, so this is one block of memory, without a node of its own for each name.
class NameTable {
 public:
  Value* find(std::string_view name) const;
  /// The first value of a name keeps it.
  void add(Value* value);
  /// Must be called before the value's name changes; nothing happens if another value has the name.
  void remove(const Value* value);
  void reserve(std::size_t count);
  std::size_t size() const { return size_; }

 private:
  struct Entry {
    std::size_t hash = 0;
    Value* value = nullptr;  // null: free
  };

  std::size_t slot_of(std::string_view name, std::size_t hash) const;
  void grow(std::size_t slots);

  std::vector<Entry> entries_;  // a power of two, at most half of them taken
  std::size_t size_ = 0;
};

}  // namespace ingot
