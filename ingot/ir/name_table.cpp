// A hash table with open addressing: the entry of a name is the first free or matching one from its place on.
#include "ingot/ir/name_table.h"

#include <bit>
#include <functional>

#include "ingot/ir/graph.h"

namespace ingot {

std::size_t NameTable::slot_of(std::string_view name, std::size_t hash) const {
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Entry& entry = entries_[i];
    if (!entry.value || (entry.hash == hash && entry.value->name() == name)) return i;
  }
}

Value* NameTable::find(std::string_view name) const {
  return size_ ? entries_[slot_of(name, std::hash<std::string_view>()(name))].value : nullptr;
}

void NameTable::add(Value* value) {
  if (2 * (size_ + 1) > entries_.size()) grow(2 * entries_.size());
  const std::size_t hash = std::hash<std::string_view>()(value->name());
  Entry& entry = entries_[slot_of(value->name(), hash)];
  if (entry.value) return;
  entry = {hash, value};
  ++size_;
}

void NameTable::remove(const Value* value) {
  if (!size_) return;
  const std::size_t mask = entries_.size() - 1;
  std::size_t hole = slot_of(value->name(), std::hash<std::string_view>()(value->name()));
  if (entries_[hole].value != value) return;
  // Entries that the hole would cut off from their places move up.
  for (std::size_t i = (hole + 1) & mask; entries_[i].value; i = (i + 1) & mask) {
    if (((i - entries_[i].hash) & mask) < ((i - hole) & mask)) continue;
    entries_[hole] = entries_[i];
    hole = i;
  }
  entries_[hole] = {};
  --size_;
}

void NameTable::reserve(std::size_t count) {
  if (2 * count > entries_.size()) grow(std::bit_ceil(2 * count));
}

void NameTable::grow(std::size_t slots) {
  std::vector<Entry> old(slots ? slots : 8);
  old.swap(entries_);
  const std::size_t mask = entries_.size() - 1;
  for (const Entry& entry : old) {
    if (!entry.value) continue;
    std::size_t i = entry.hash & mask;
    while (entries_[i].value) i = (i + 1) & mask;
    entries_[i] = entry;
  }
}

}  // namespace ingot
