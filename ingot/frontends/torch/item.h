#pragma once
#include <complex>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ingot/frontends/torch/script/syntax.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends::torch {

class Item;
struct Call;
struct TensorCell;
struct ListBody;
struct DictBody;
struct Object;
using TensorRef = std::shared_ptr<TensorCell>;
using ListRef = std::shared_ptr<ListBody>;
using DictRef = std::shared_ptr<DictBody>;
using ObjectRef = std::shared_ptr<Object>;

struct None {};
/// Shared: a long text may be in a million places.
using Text = std::shared_ptr<const std::string>;
/// A Python number that is known only when the model runs: rank 0, int64, a float type or bool.
struct Scalar {
  Value* value;
};
/// Of a NamedTuple: with the class that names its parts.
struct Tuple {
  std::shared_ptr<const std::vector<Item>> items;
  const script::Class* type = nullptr;
  int depth = 1;
  bool is_changeable = false;  // some part is
};
struct Device {
  explicit Device(std::string text) : name(std::make_shared<const std::string>(std::move(text))) {}
  Text name;
};
/// A function of the archive's code, one of its classes, or statements that see the variables around them.
struct Callable {
  const script::Function* function = nullptr;
  const script::Class* type = nullptr;
  const script::Block* body = nullptr;
};
/// Nothing that may be used: uninitialized(T), and what an operator without translation would have made.
struct Unknown {};

template <class T, class... Ts>
concept OneOf = (std::is_same_v<T, Ts> || ...);

/// What a variable of the source holds while the code is followed.
class Item {
 public:
  using Content = std::variant<None, bool, std::int64_t, double, std::complex<double>, Text, Scalar, TensorRef, ListRef,
                               Tuple, DictRef, ObjectRef, Device, Callable, Unknown>;
  Item() = default;
  Item(bool value) : content_(value) {}
  Item(int value) : content_(std::int64_t{value}) {}
  Item(std::int64_t value) : content_(value) {}
  Item(double value) : content_(value) {}
  Item(std::string text) : content_(std::make_shared<const std::string>(std::move(text))) {}
  Item(const char* text) : Item(std::string(text)) {}
  template <class T>
  requires OneOf<T, None, std::complex<double>, Scalar, TensorRef, ListRef, Tuple, DictRef, ObjectRef,
                 Device, Callable, Unknown>
  Item(T value) : content_(std::in_place_type<T>, std::move(value)) {}
  /// A tensor of its own.
  Item(Value* tensor);
  static Item tuple(std::vector<Item> items, const script::Class* type = nullptr);
  static Item list(std::vector<Item> items);
  static Item tensors(const Values& values);  // a tuple
  static Item integers(const std::vector<std::int64_t>& values);

  template <class T> bool is() const { return get<T>() != nullptr; }
  template <class T> const T* get() const {
    if constexpr (std::is_same_v<T, std::string>) {
      const Text* text = std::get_if<Text>(&content_);
      return text ? text->get() : nullptr;
    } else {
      return std::get_if<T>(&content_);
    }
  }
  bool is_none() const { return is<None>(); }
  bool is_unknown() const { return is<Unknown>(); }
  bool is_tensor() const { return is<TensorRef>(); }
  /// A number, known or not.
  bool is_number() const { return is<bool>() || is<std::int64_t>() || is<double>() || is<Scalar>(); }
  const Content& content() const { return content_; }

 private:
  Content content_;
};

/// A tensor that the code may change in place. A view of another is written through to it.
struct TensorCell {
  Value* value = nullptr;  // of a view: as it was when `seen` was the base's value
  TensorRef base{};
  std::shared_ptr<const Call> view{};  // which call makes it of its base
  std::size_t part = 0;                // which result of that call
  Value* seen = nullptr;
  /// A constant without axes, which a trace made of a number of Python's: it is promoted as one.
  bool is_number = false;
  bool requires_grad = false;  // of a parameter of the file
  /// The value is pairs of reals along a last axis.
  bool is_complex = false;
  /// Data of a packed sequence: an axis more than PyTorch's has.
  bool is_packed = false;
};

struct ListBody {
  std::vector<Item> items;
  int depth = 1;
  /// After a loop that is not unrolled: what its rounds appended, stacked along a new first axis, behind `items`.
  Value* rolled = nullptr;
};

struct DictBody {
  std::vector<std::pair<Item, Item>> entries;
  /// Of an argument of the model, its name: an entry that the code asks for and that is not there becomes an input.
  std::string input{};
};

/// A module, or an instance of another class of the code.
struct Object {
  const script::Class* type = nullptr;
  std::string path;  // dotted, from the root
  std::map<std::string, Item, std::less<>> attributes;
};

/// How deep lists and tuples stand in each other there; 0: it is neither.
int depth_of(const Item& item);
/// Whether code may put more into it, so that what holds it gets deeper.
bool is_changeable(const Item& item);
/// For messages: "int", "Tensor", "List of 3".
std::string kind_text(const Item& item);
/// Of a tuple, or a list whose elements are known; else null.
const std::vector<Item>* parts_of(const Item& item);
/// The same known values; tensors and other things that have an identity are compared by it.
bool same_item(const Item& a, const Item& b);

}  // namespace ingot::frontends::torch
