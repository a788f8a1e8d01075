// Python's lists, dictionaries and ranges: what the code computes beside its tensors.
#include <fmt/format.h>

#include "ingot/frontends/torch/operator_table.h"
#include "ingot/frontends/torch/python_numbers.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

using Args = std::vector<Item>;
using Made = std::optional<Item>;

/// Lists that agree as far as is known: elements known only later are compared when the model runs.
Made lists_equal(Translation& t, const Item& a, const Item& b) {
  if (const auto known = equal(a, b)) return *known;
  const auto* pa = parts_of(a);
  const auto* pb = parts_of(b);
  if (!pa || !pb) return std::nullopt;
  Item all(true);
  for (std::size_t i = 0; i < pa->size(); ++i) {
    if (!(*pa)[i].is_number() || !(*pb)[i].is_number()) return std::nullopt;
    const Made same = of_two_numbers(t, "eq", (*pa)[i], (*pb)[i]);
    if (!same) return std::nullopt;
    const Made both = of_two_numbers(t, "__and__", all, *same);
    if (!both) return std::nullopt;
    all = *both;
  }
  return all;
}

std::size_t place_in(const Item& index, std::size_t size) {
  const auto at = known_int(index);
  if (!at)
    throw Error(Code::unsupported_setting, "a list is indexed by a number that is known only when the model runs");
  const std::int64_t place = *at < 0 ? *at + static_cast<std::int64_t>(size) : *at;
  if (place < 0 || place >= static_cast<std::int64_t>(size))
    throw Error(Code::bad_source_graph, fmt::format("index {} lies outside of a list of {}", *at, size));
  return static_cast<std::size_t>(place);
}

std::vector<Item> sliced(const std::vector<Item>& items, const Args& args) {
  const auto size = static_cast<std::int64_t>(items.size());
  const auto bound = [&](std::size_t i, std::int64_t otherwise) {
    if (i >= args.size() || args[i].is_none()) return otherwise;
    const auto at = known_int(args[i]);
    if (!at) throw Error(Code::unsupported_setting, "a list is cut at a place that is known only when the model runs");
    return *at;
  };
  const std::int64_t step = bound(3, 1);
  if (step == 0) throw Error(Code::bad_source_graph, "a list is cut in steps of 0");
  const auto clamped = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  std::vector<Item> made;
  if (step > 0) {
    const std::int64_t end = clamped(bound(2, size), 0, size);
    for (std::int64_t i = clamped(bound(1, 0), 0, size); i < end; i += step)
      made.push_back(items[static_cast<std::size_t>(i)]);
  } else {
    const bool has_end = args.size() > 2 && !args[2].is_none();
    const std::int64_t end = has_end ? clamped(bound(2, 0), -1, size - 1) : -1;
    for (std::int64_t i = clamped(bound(1, size - 1), -1, size - 1); i > end; i += step)
      made.push_back(items[static_cast<std::size_t>(i)]);
  }
  return made;
}

constexpr std::size_t kLongestList = 1'000'000;

/// Before a list of so many elements is made of others.
void count_copied(Translation& t, std::size_t size) {
  if (size > kLongestList) throw Error(Code::node_limit, "a list of the code grows too long");
  t.spend(4 * size);
}

/// A list that is about to change, and to hold another thing where one is given.
ListBody& changed(Translation& t, const ListRef& list, const Item* held = nullptr) {
  t.journal.changing({list});
  if (held) {
    t.hold(*held);
    list->depth = std::max(list->depth, depth_of(*held) + 1);
    if (list->items.size() >= kLongestList) throw Error(Code::node_limit, "a list of the code grows too long");
  }
  return *list;
}

/// What changes a list in place.
Made list_changed(Translation& t, std::string_view name, const Args& args) {
  const ListRef* list = args[0].get<ListRef>();
  const auto* items = &(*list)->items;
  if ((name == "_set_item" || name == "__setitem__") && args.size() == 3) {
    const std::size_t at = place_in(args[1], items->size());
    changed(t, *list, &args[2]).items[at] = args[2];
    return args[0];
  }
  if (name == "extend" && args.size() == 2 && parts_of(args[1])) {
    const std::vector<Item> more = *parts_of(args[1]);
    count_copied(t, items->size() + more.size());
    auto& to = changed(t, *list).items;
    for (const Item& item : more) (void)changed(t, *list, &item);
    to.insert(to.end(), more.begin(), more.end());
    return args[0];
  }
  if (name == "insert" && args.size() == 3) {
    const std::int64_t size = static_cast<std::int64_t>(items->size());
    std::int64_t at = known_int(args[1]).value_or(0);
    at = std::clamp(at < 0 ? at + size : at, std::int64_t{0}, size);
    auto& to = changed(t, *list, &args[2]).items;
    to.insert(to.begin() + at, args[2]);
    return args[0];
  }
  if (name == "pop") {
    if (items->empty()) throw Error(Code::bad_source_graph, "the code takes from an empty list");
    const std::size_t at = args.size() > 1 ? place_in(args[1], items->size()) : items->size() - 1;
    Item taken = (*items)[at];
    auto& from = changed(t, *list).items;
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    return taken;
  }
  if (name == "clear") {
    changed(t, *list).items.clear();
    return args[0];
  }
  if (name == "reverse") {
    auto& all = changed(t, *list).items;
    std::ranges::reverse(all);
    return args[0];
  }
  return std::nullopt;
}

/// What looks through a list of known things.
Made list_searched(Translation& t, std::string_view name, const Args& args) {
  const auto* items = parts_of(args[0]);
  if ((name == "__contains__" || name == "index" || name == "count") && args.size() == 2) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < items->size(); ++i) {
      const auto same = equal((*items)[i], args[1]);
      if (!same) {
        if (name != "__contains__") return std::nullopt;
        Item any(false);
        for (const Item& item : *items) {
          const Made one = of_two_numbers(t, "eq", item, args[1]);
          if (!one) return std::nullopt;
          any = *of_two_numbers(t, "__or__", any, *one);
        }
        return any;
      }
      if (*same && name == "index") return static_cast<std::int64_t>(i);
      count += *same;
    }
    if (name == "index") throw Error(Code::bad_source_graph, "the code looks for what is not in a list");
    return name == "count" ? Item(count) : Item(count > 0);
  }
  if (args.size() == 1 && !items->empty() &&
      (name == "sum" || name == "prod" || name == "max" || name == "min" || name == "any" || name == "all")) {
    Item total = items->front();
    for (std::size_t i = 1; i < items->size(); ++i) {
      const Made next = of_two_numbers(t,
                                       name == "sum"    ? "add"
                                       : name == "prod" ? "mul"
                                       : name == "any"  ? "__or__"
                                       : name == "all"  ? "__and__"
                                                        : name,
                                       total, (*items)[i]);
      if (!next) return std::nullopt;
      total = *next;
    }
    return total;
  }
  return std::nullopt;
}

/// Numbers or texts that are all known, in order.
Made list_sorted(Translation& t, std::string_view name, const Args& args) {
  std::vector<Item> items = *parts_of(args[0]);
  const bool are_texts = !items.empty() && items[0].is<std::string>();
  for (const Item& item : items)
    if (are_texts ? !item.is<std::string>() : !known_number(item)) return std::nullopt;
  std::ranges::stable_sort(items, [&](const Item& a, const Item& b) {
    return are_texts ? *a.get<std::string>() < *b.get<std::string>() : *known_number(a) < *known_number(b);
  });
  if (args.size() > 1 && known_int(args[1]) == 1) std::ranges::reverse(items);
  if (name == "sorted") return Item::list(std::move(items));
  const ListRef* list = args[0].get<ListRef>();
  if (!list) return std::nullopt;
  changed(t, *list).items = std::move(items);
  return Item();
}

Made of_list(Translation& t, std::string_view name, const Args& args) {
  const auto* items = parts_of(args[0]);
  const ListRef* list = args[0].get<ListRef>();
  if (name == "append" && list && args.size() == 2) {
    changed(t, *list, &args[1]).items.push_back(args[1]);
    return args[0];
  }
  if (name == "len" && list && (*list)->rolled) {
    Value* stacked = (*list)->rolled;
    if (rank_of(stacked) == 0) refuse("the length of a list is asked for while a loop appends to it");
    const Item count = t.number_of(t.g().op("Gather", {t.g().shape(stacked), t.g().index(0)}, {{"axis", 0}}));
    return of_two_numbers(t, "add", count, Item(static_cast<std::int64_t>((*list)->items.size())));
  }
  if (!items) return std::nullopt;
  const bool are_tensors = std::ranges::any_of(*items, [](const Item& i) { return i.is_tensor(); });
  if (name == "len") return static_cast<std::int64_t>(items->size());
  if (name == "__getitem__" && args.size() == 2) return (*items)[place_in(args[1], items->size())];
  if (name == "slice" || name == "list" || name == "copy") {
    count_copied(t, items->size());
    return Item::list(name == "slice" ? sliced(*items, args) : *items);
  }
  if (name == "dict") {
    auto dict = std::make_shared<DictBody>();
    for (const Item& item : *items)
      if (const auto* pair = parts_of(item); pair && pair->size() == 2)
        dict->entries.emplace_back((*pair)[0], (*pair)[1]);
    return Item(DictRef(std::move(dict)));
  }
  if ((name == "sorted" || name == "sort") && !are_tensors) return list_sorted(t, name, args);
  if (name == "Bool") return !items->empty();
  if (list)
    if (Made made = list_changed(t, name, args)) return made;
  if (!are_tensors)
    if (Made made = list_searched(t, name, args)) return made;
  if (args.size() != 2) return std::nullopt;
  const auto* other = parts_of(args[1]);
  if ((name == "eq" || name == "ne") && other && !are_tensors) {
    const Made same = lists_equal(t, args[0], args[1]);
    if (!same || name == "eq") return same;
    return of_one_number(t, "__not__", *same);
  }
  if ((name == "add" || name == "add_") && other && (list || name == "add")) {
    count_copied(t, items->size() + other->size());
    std::vector<Item> joined = *items;
    joined.insert(joined.end(), other->begin(), other->end());
    if (name == "add") return args[0].is<Tuple>() ? Item::tuple(std::move(joined)) : Item::list(std::move(joined));
    for (const Item& item : *other) t.hold(item);
    const Item made = Item::list(std::move(joined));
    changed(t, *list).depth = depth_of(made);
    (*list)->items = (*made.get<ListRef>())->items;
    return args[0];
  }
  if (const auto times = known_int(args[1]); name == "mul" && times && list) {
    std::vector<Item> repeated;
    const auto most = static_cast<std::int64_t>(kLongestList) + 1;
    const std::int64_t rounds = items->empty() ? 0 : std::clamp<std::int64_t>(*times, 0, most);
    count_copied(t, static_cast<std::size_t>(rounds) * items->size());
    for (std::int64_t i = 0; i < rounds; ++i) repeated.insert(repeated.end(), items->begin(), items->end());
    return Item::list(std::move(repeated));
  }
  return std::nullopt;
}

Made of_dict(Translation& t, std::string_view name, const Args& args) {
  const DictRef& dict = *args[0].get<DictRef>();
  const auto find = [&](const Item& key) {
    return std::ranges::find_if(dict->entries, [&](const auto& e) { return equal(e.first, key) == true; });
  };
  if (name == "len") return static_cast<std::int64_t>(dict->entries.size());
  if (name == "Bool") return !dict->entries.empty();
  if (name == "keys" || name == "values" || name == "items") {
    std::vector<Item> made;
    for (const auto& [key, value] : dict->entries)
      made.push_back(name == "keys" ? key : name == "values" ? value : Item::tuple({key, value}));
    return Item::list(std::move(made));
  }
  if (name == "dict" || name == "copy") return Item(std::make_shared<DictBody>(*dict));
  if (name == "clear") {
    t.journal.changing({dict});
    dict->entries.clear();
    return Item();
  }
  if (args.size() < 2) return std::nullopt;
  if (const DictRef* more = args[1].get<DictRef>(); name == "update" && more) {
    t.journal.changing({dict});
    for (const auto& [key, value] : (*more)->entries)
      if (const auto place = find(key); place != dict->entries.end())
        place->second = value;
      else
        dict->entries.emplace_back(key, value);
    return Item();
  }
  const auto found = find(args[1]);
  if (name == "__contains__") return found != dict->entries.end();
  if (name == "get") return found != dict->entries.end() ? found->second : args.size() > 2 ? args[2] : Item();
  if (name == "__getitem__" || name == "pop") {
    const auto* key = args[1].get<std::string>();
    if (found == dict->entries.end() && key && !dict->input.empty() && name == "__getitem__")
      throw Demand{.input = dict->input + "_" + *key, .is_new = true};
    if (found == dict->entries.end())
      throw Error(Code::bad_source_graph, "the code asks for a key that a dictionary lacks");
    Item value = found->second;
    if (name == "pop") {
      t.journal.changing({dict});
      dict->entries.erase(find(args[1]));
    }
    return value;
  }
  if (name == "setdefault" && args.size() == 3 && found != dict->entries.end()) return found->second;
  if (name == "Delete") {
    if (found == dict->entries.end()) throw Error(Code::bad_source_graph, "the code deletes a key that is not there");
    t.journal.changing({dict});
    dict->entries.erase(find(args[1]));
    return Item();
  }
  if ((name == "_set_item" || name == "setdefault") && args.size() == 3) {
    t.journal.changing({dict});
    t.hold(args[2]);
    t.spend(dict->entries.size());
    if (const auto place = find(args[1]); place != dict->entries.end())
      place->second = args[2];
    else
      dict->entries.emplace_back(args[1], args[2]);
    return name == "setdefault" ? args[2] : args[0];
  }
  return std::nullopt;
}

Made of_ranges(Translation& t, std::string_view name, const Args& args) {
  if (name == "__range_length" && args.size() == 3) {
    const auto low = known_int(args[0]), high = known_int(args[1]), step = known_int(args[2]);
    if (step == 0) throw Error(Code::bad_source_graph, "the code counts in steps of 0");
    if (low && high && step) {
      if (*step > 0 ? *low >= *high : *low <= *high) return std::int64_t{0};
      return *step > 0 ? 1 + (*high - 1 - *low) / *step : 1 + (*low - 1 - *high) / -*step;
    }
    if (!step || *step < 0) refuse("the code counts in steps that are known only when the model runs");
    // ceil((high - low) / step), not below 0.
    const Item span = *of_two_numbers(t, "sub", args[1], args[0]);
    const Item rounded = *of_two_numbers(t, "add", span, Item(*step - 1));
    return of_two_numbers(t, "max", *of_two_numbers(t, "floordiv", rounded, Item(*step)), Item(0));
  }
  if (name == "prim::rangelist") {
    const auto count = known_int(args[0]);
    if (!count || *count > 1'000'000) refuse("a list of as many numbers as only the run knows");
    std::vector<Item> numbers;
    for (std::int64_t i = 0; i < *count; ++i) numbers.emplace_back(i);
    return Item::list(std::move(numbers));
  }
  if (name == "__derive_index" && args.size() == 3)
    return of_two_numbers(t, "add", args[1], *of_two_numbers(t, "mul", args[0], args[2]));
  return std::nullopt;
}

}  // namespace

std::optional<Item> python_call(Translation& t, std::string_view name, const std::vector<Item>& args) {
  if (args.empty()) {
    if (name == "dict") return Item(std::make_shared<DictBody>());
    return std::nullopt;
  }
  if ((name == "__is__" || name == "__isnot__") && args.size() == 2) {
    if (args[0].is_unknown() || args[1].is_unknown()) return Item(Unknown{});
    const bool same =
        args[0].is_none() || args[1].is_none() ? args[0].is_none() == args[1].is_none() : same_item(args[0], args[1]);
    return same == (name == "__is__");
  }
  for (const Item& item : args)
    if (item.is_unknown() && !args[0].is<ListRef>()) return std::nullopt;
  if (Made made = of_ranges(t, name, args)) return made;
  if (args[0].is<std::string>()) {
    t.spend(args[0].get<std::string>()->size() / 16);
    return text_call(name, args);
  }
  if (args[0].is<DictRef>()) return of_dict(t, name, args);
  if (args[0].is<ListRef>() || args[0].is<Tuple>()) return of_list(t, name, args);
  if (args[0].is_number() && args.size() == 1) return of_one_number(t, name, args[0]);
  if (args[0].is_number() && args.size() == 2 && args[1].is_number()) return of_two_numbers(t, name, args[0], args[1]);
  if (args.size() == 2 && (name == "eq" || name == "ne") && !args[0].is_tensor() && !args[1].is_tensor()) {
    const auto same = equal(args[0], args[1]);
    if (same) return *same == (name == "eq");
  }
  return std::nullopt;
}

}  // namespace ingot::frontends::torch
