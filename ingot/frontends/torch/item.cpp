// What variables of the source hold.
#include "ingot/frontends/torch/item.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/error.h"

namespace ingot::frontends::torch {

Item::Item(Value* tensor) : content_(std::make_shared<TensorCell>(TensorCell{.value = tensor})) {}

namespace {

constexpr int kDeepest = 100;

int depth_around(const std::vector<Item>& items) {
  int depth = 0;
  for (const Item& item : items) depth = std::max(depth, depth_of(item));
  if (depth >= kDeepest) throw Error(Code::depth_limit, "the code puts lists into lists too deeply");
  return depth + 1;
}

}  // namespace

Item Item::tuple(std::vector<Item> items, const script::Class* type) {
  const int depth = depth_around(items);
  const bool may_change = std::ranges::any_of(items, torch::is_changeable);
  return Tuple{std::make_shared<const std::vector<Item>>(std::move(items)), type, depth, may_change};
}

Item Item::list(std::vector<Item> items) {
  const int depth = depth_around(items);
  return std::make_shared<ListBody>(ListBody{std::move(items), depth});
}

int depth_of(const Item& item) {
  if (const ListRef* list = item.get<ListRef>()) return (*list)->depth;
  if (const Tuple* tuple = item.get<Tuple>()) return tuple->depth;
  return item.is<DictRef>() || item.is<ObjectRef>() ? 1 : 0;
}

bool is_changeable(const Item& item) {
  if (const Tuple* tuple = item.get<Tuple>()) return tuple->is_changeable;
  return item.is<ListRef>() || item.is<DictRef>() || item.is<ObjectRef>();
}

Item Item::tensors(const Values& values) {
  std::vector<Item> items;
  for (Value* v : values) items.emplace_back(v);
  return tuple(std::move(items));
}

Item Item::integers(const std::vector<std::int64_t>& values) {
  std::vector<Item> items;
  for (const std::int64_t v : values) items.emplace_back(v);
  return list(std::move(items));
}

std::string kind_text(const Item& item) {
  struct Namer {
    std::string operator()(const None&) const { return "None"; }
    std::string operator()(bool) const { return "bool"; }
    std::string operator()(std::int64_t) const { return "int"; }
    std::string operator()(double) const { return "float"; }
    std::string operator()(const std::complex<double>&) const { return "complex"; }
    std::string operator()(const Text&) const { return "str"; }
    std::string operator()(const Scalar& s) const {
      return fmt::format("number of type {}", name_of(s.value->type.elem));
    }
    std::string operator()(const TensorRef&) const { return "Tensor"; }
    std::string operator()(const ListRef& l) const { return fmt::format("List of {}", l->items.size()); }
    std::string operator()(const Tuple& t) const { return fmt::format("Tuple of {}", t.items->size()); }
    std::string operator()(const DictRef&) const { return "Dict"; }
    std::string operator()(const ObjectRef& o) const { return o->type ? o->type->name : "object"; }
    std::string operator()(const Device&) const { return "device"; }
    std::string operator()(const Callable&) const { return "function"; }
    std::string operator()(const Unknown&) const { return "value that is not known"; }
  };
  return std::visit(Namer{}, item.content());
}

namespace {

/// Compares what an item holds with another one of the same kind.
struct Same {
  const Item& other;
  template <class T> const T& of() const { return *other.get<T>(); }
  bool operator()(const None&) const { return true; }
  bool operator()(bool v) const { return of<bool>() == v; }
  bool operator()(std::int64_t v) const { return of<std::int64_t>() == v; }
  bool operator()(double v) const { return of<double>() == v; }
  bool operator()(const std::complex<double>& v) const { return of<std::complex<double>>() == v; }
  bool operator()(const Text& v) const { return of<std::string>() == *v; }
  bool operator()(const Scalar& v) const { return of<Scalar>().value == v.value; }
  bool operator()(const TensorRef& v) const { return of<TensorRef>() == v; }
  bool operator()(const ListRef& v) const { return of<ListRef>() == v; }
  bool operator()(const Tuple& v) const {
    if (of<Tuple>().items == v.items) return true;
    const auto& items = *of<Tuple>().items;
    if (items.size() != v.items->size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (!same_item(items[i], (*v.items)[i])) return false;
    return true;
  }
  bool operator()(const DictRef& v) const { return of<DictRef>() == v; }
  bool operator()(const ObjectRef& v) const { return of<ObjectRef>() == v; }
  bool operator()(const Device& v) const { return *of<Device>().name == *v.name; }
  bool operator()(const Callable& v) const {
    return of<Callable>().function == v.function && of<Callable>().type == v.type && of<Callable>().body == v.body;
  }
  bool operator()(const Unknown&) const { return true; }
};

}  // namespace

bool same_item(const Item& a, const Item& b) {
  if (a.content().index() != b.content().index()) return false;
  return std::visit(Same{b}, a.content());
}

const std::vector<Item>* parts_of(const Item& item) {
  if (const ListRef* list = item.get<ListRef>()) return (*list)->rolled ? nullptr : &(*list)->items;
  if (const Tuple* tuple = item.get<Tuple>()) return tuple->items.get();
  return nullptr;
}

}  // namespace ingot::frontends::torch
