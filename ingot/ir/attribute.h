#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ingot/ir/attribute_type.h"
#include "ingot/ir/tensor.h"

namespace ingot {

class Graph;
using GraphPtr = std::unique_ptr<Graph>;

/// The alternatives stand in the order of AttrType: index() is the type's number.
using AttrValue = std::variant<std::monostate, float, std::int64_t, std::string, Tensor, GraphPtr, std::vector<float>,
                               std::vector<std::int64_t>, std::vector<std::string>, std::vector<Tensor>,
                               std::vector<GraphPtr>, SparseTensor, std::vector<SparseTensor>, Type, std::vector<Type>>;

/// A named argument of a node that is fixed before running. Move-only: it may own graphs.
struct Attribute {
  Attribute();
  Attribute(std::string name, AttrValue value);
  // Shorthands for node(..., {{"axis", 1}, {"mode", "linear"}, {"pads", {0, 1}}}).
  Attribute(std::string name, int value);
  Attribute(std::string name, bool value);
  Attribute(std::string name, DType value);  // as Cast's `to`
  Attribute(std::string name, double value);
  Attribute(std::string name, const char* value);
  Attribute(std::string name, std::initializer_list<std::int64_t> values);
  Attribute(Attribute&&) noexcept;
  Attribute& operator=(Attribute&&) noexcept;
  ~Attribute();

  AttrType type() const;
  bool is_reference() const { return !reference.empty(); }

  std::string name;
  AttrValue value;
  std::string reference;                          // inside a function: the function's attribute that gives the value
  AttrType reference_type = AttrType::undefined;  // the type stated along with `reference`
  std::string doc_string;
  std::string unknown;
};

/// A node's attributes, in file order; few, so a search is a walk.
class Attributes {
 public:
  Attributes();
  Attributes(Attributes&&) noexcept;
  Attributes& operator=(Attributes&&) noexcept;
  ~Attributes();

  const Attribute* find(std::string_view name) const;
  Attribute* find(std::string_view name);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The value when the attribute is there, is no reference and has this type; else null.
  template <class T> const T* get(std::string_view name) const {
    const Attribute* a = find(name);
    return a ? std::get_if<T>(&a->value) : nullptr;
  }
  std::int64_t int_or(std::string_view name, std::int64_t fallback) const;
  float float_or(std::string_view name, float fallback) const;
  std::string string_or(std::string_view name, std::string_view fallback) const;
  std::vector<std::int64_t> ints_or(std::string_view name, std::vector<std::int64_t> fallback) const;

  /// Replaces the attribute of that name, or adds it at the end.
  void set(Attribute attribute);
  bool erase(std::string_view name);
  /// Adds without looking for the name: readers keep what the file says, twice if need be.
  void append(Attribute attribute);

  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  std::size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }

 private:
  std::vector<Attribute> list_;
};

}  // namespace ingot
