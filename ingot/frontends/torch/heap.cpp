// What was changed, and how it was before.
#include "ingot/frontends/torch/heap.h"

namespace ingot::frontends::torch {

const void* Place::identity() const {
  return std::visit([](const auto& p) { return static_cast<const void*>(p.get()); }, owner);
}

Contents contents_of(const Place& place) {
  Contents made;
  if (const auto* tensor = std::get_if<TensorRef>(&place.owner)) made.tensor = (*tensor)->value;
  if (const auto* list = std::get_if<ListRef>(&place.owner)) made.items = (*list)->items;
  if (const auto* dict = std::get_if<DictRef>(&place.owner)) made.entries = (*dict)->entries;
  if (const auto* object = std::get_if<ObjectRef>(&place.owner)) {
    const auto found = (*object)->attributes.find(place.attribute);
    made.attribute = found == (*object)->attributes.end() ? Item(Unknown{}) : found->second;
  }
  return made;
}

void restore(const Place& place, const Contents& contents) {
  if (const auto* tensor = std::get_if<TensorRef>(&place.owner)) (*tensor)->value = contents.tensor;
  if (const auto* list = std::get_if<ListRef>(&place.owner)) (*list)->items = contents.items;
  if (const auto* dict = std::get_if<DictRef>(&place.owner)) (*dict)->entries = contents.entries;
  if (const auto* object = std::get_if<ObjectRef>(&place.owner))
    (*object)->attributes.insert_or_assign(place.attribute, contents.attribute);
}

void Journal::changing(const Place& place) {
  if (open_.empty()) return;
  Recording& now = open_.back();
  const auto [at, is_new] = now.known.try_emplace({place.identity(), place.attribute}, now.changes.size());
  if (is_new) now.changes.push_back({place, contents_of(place)});
}

Journal::Changes Journal::end() {
  Changes made = std::move(open_.back().changes);
  open_.pop_back();
  // What changed inside changed for those around too.
  for (const Change& c : made) {
    if (open_.empty()) break;
    Recording& outer = open_.back();
    const auto [at, is_new] = outer.known.try_emplace({c.place.identity(), c.place.attribute}, outer.changes.size());
    if (is_new) outer.changes.push_back(c);
  }
  return made;
}

}  // namespace ingot::frontends::torch
