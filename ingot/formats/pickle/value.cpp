// What is asked of a pickle's values.
#include "ingot/formats/pickle/value.h"

#include <fmt/format.h>

namespace ingot::formats::pickle {
namespace {

/// The last one counts, as it would in Python.
Ref find_in(std::span<const Ref> entries, std::string_view key) {
  for (std::size_t i = entries.size(); i >= 2; i -= 2)
    if (entries[i - 2]->is_text() && entries[i - 2]->text == key) return entries[i - 1];
  return nullptr;
}

Ref argument(const Object& object, std::size_t i) {
  return object.args && i < object.args->items.size() ? object.args->items[i] : nullptr;
}

/// Functions whose first argument is the class of what they make.
bool makes_instances(const Symbol& f) {
  if ((f.module == "copyreg" || f.module == "copy_reg") && (f.name == "_reconstructor" || f.name == "__newobj__"))
    return true;
  return f.name.starts_with("__pyx_unpickle_") || f.name == "newObj" || f.name == "object.__new__";
}

/// A state is a dict, or a pair of dicts of which the second holds the slots.
template <class Visit> void for_each_state(const Object& object, const Visit& visit) {
  for (std::size_t i = object.states.size(); i-- > 0;) {
    const Value& state = *object.states[i];
    if (state.is(Kind::tuple) && state.items.size() == 2) {
      visit(*state.items[1]);
      visit(*state.items[0]);
    } else {
      visit(state);
    }
  }
  if (object.kwargs) visit(*object.kwargs);
}

}  // namespace

std::span<const Ref> entries_of(const Value& value) {
  if (value.is(Kind::dict)) return value.items;
  if (value.is(Kind::object)) return value.object->entries;
  return {};
}

std::span<const Ref> items_of(const Value& value) {
  switch (value.kind) {
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozen_set:
      return value.items;
    case Kind::object:
      return value.object->items;
    default:
      return {};
  }
}

Ref find(const Value& dict, std::string_view key) {
  if (Ref found = find_in(entries_of(dict), key)) return found;
  // OrderedDict([(key, value), ...]) and dict(...) with its entries as an argument.
  if (!dict.is(Kind::object)) return nullptr;
  const Ref first = argument(*dict.object, 0);
  if (!first) return nullptr;
  if (first->is(Kind::dict)) return find_in(first->items, key);
  for (const Ref pair : items_of(*first))
    if (pair->is_sequence() && pair->items.size() == 2 && pair->items[0]->is_text() && pair->items[0]->text == key)
      return pair->items[1];
  return nullptr;
}

const Symbol* class_of(const Value& value) {
  if (!value.is(Kind::object) || !value.object->callable) return nullptr;
  const Value& callable = *value.object->callable;
  if (!callable.is(Kind::global)) return nullptr;
  if (makes_instances(*callable.symbol))
    if (const Ref first = argument(*value.object, 0); first && first->is(Kind::global)) return first->symbol;
  return callable.symbol;
}

std::string_view class_name(const Value& value) {
  const Symbol* symbol = class_of(value);
  if (!symbol) return {};
  const std::string_view name = symbol->name;
  return name.substr(name.rfind('.') + 1);
}

Ref attribute(const Value& instance, std::string_view name) {
  if (!instance.is(Kind::object)) return nullptr;
  Ref found = nullptr;
  for_each_state(*instance.object, [&](const Value& state) {
    if (!found) found = find(state, name);
  });
  if (!found) found = find_in(instance.object->entries, name);
  return found;
}

std::vector<Ref> attributes_of(const Value& instance) {
  std::vector<Ref> all;
  if (!instance.is(Kind::object)) return all;
  for_each_state(*instance.object, [&](const Value& state) {
    const auto entries = entries_of(state);
    all.insert(all.end(), entries.begin(), entries.end());
  });
  return all;
}

std::string kind_text(const Value& value) {
  switch (value.kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
    case Kind::big_integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::bytes:
      return fmt::format("{} bytes", value.text.size());
    case Kind::text:
      return "text";
    case Kind::list:
      return fmt::format("list of {}", value.items.size());
    case Kind::tuple:
      return fmt::format("tuple of {}", value.items.size());
    case Kind::dict:
      return fmt::format("dict of {}", value.items.size() / 2);
    case Kind::set:
    case Kind::frozen_set:
      return fmt::format("set of {}", value.items.size());
    case Kind::global:
      return value.symbol->full_name();
    case Kind::persistent:
      return "persistent id";
    case Kind::object:
      break;
  }
  const Symbol* symbol = class_of(value);
  return symbol ? symbol->full_name() : "object";
}

}  // namespace ingot::formats::pickle
