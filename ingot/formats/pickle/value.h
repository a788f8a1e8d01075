#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot::formats::pickle {

struct Value;
using Ref = const Value*;

/// A class or function that the pickle names. Nothing is ever imported for it.
struct Symbol {
  std::string module, name;
  bool is_called = false;  // Python would have called it, or made an instance of it

  std::string full_name() const { return module + "." + name; }
  bool is(std::string_view in_module, std::string_view named) const { return module == in_module && name == named; }
};

/// What a call or a class would have made: the call as data.
struct Object {
  Ref callable = nullptr;      // as a rule Kind::global
  Ref args = nullptr;          // a tuple
  Ref kwargs = nullptr;        // a dict; null: none
  std::vector<Ref> states{};   // what BUILD gave, the last one last
  std::vector<Ref> items{};    // added later: of a subclass of list
  std::vector<Ref> entries{};  // keys and values in turn: of a subclass of dict
  Bytes payload{};             // joblib: the array's bytes, which follow its description in the stream
  Ref nested = nullptr;        // joblib: the array of objects, a pickle inside
};

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  big_integer,  // beyond 64 bits: `text` is its bytes, little-endian, or its digits
  real,
  bytes,
  text,
  list,
  tuple,
  dict,
  set,
  frozen_set,
  global,
  object,
  persistent,  // the id is items[0]
};

/// A value of a pickle. Its address is its identity: what Python shares is shared here, and may contain itself.
struct Value {
  Kind kind = Kind::none;
  union {
    std::int64_t integer = 0;  // integer, boolean; global: its number among the symbols
    double real;               // real
  };
  std::string_view text{};           // bytes and text; it lies in the file or in the document
  std::vector<Ref> items{};          // list, tuple, sets; dict: keys and values in turn
  const Symbol* symbol = nullptr;    // global
  std::unique_ptr<Object> object{};  // object

  bool is(Kind k) const { return kind == k; }
  bool is_none() const { return kind == Kind::none; }
  bool is_text() const { return kind == Kind::text || kind == Kind::bytes; }  // Python 2 wrote names as bytes
  bool is_number() const { return kind == Kind::integer || kind == Kind::real || kind == Kind::boolean; }
  bool is_sequence() const { return kind == Kind::list || kind == Kind::tuple; }
  double number() const { return kind == Kind::real ? real : static_cast<double>(integer); }
};

/// The value of a key in a dict or in a subclass of it; null: it has none.
Ref find(const Value& dict, std::string_view key);
/// Keys and values in turn; nothing where it is no dict.
std::span<const Ref> entries_of(const Value& value);
/// Of lists, tuples and sets, subclasses of list too; nothing where it is none of these.
std::span<const Ref> items_of(const Value& value);

/// The class of an instance, or the function of a call; null: it has none. Sees through what only makes instances:
/// copyreg._reconstructor, object.__new__, Cython's __pyx_unpickle_*.
const Symbol* class_of(const Value& value);
/// The last part of its class's name; empty: it has none.
std::string_view class_name(const Value& value);
/// An attribute of an instance, whether it came as a dict, in slots or as a keyword; null: it has none.
Ref attribute(const Value& instance, std::string_view name);
/// Names and values in turn of what a state says of an instance.
std::vector<Ref> attributes_of(const Value& instance);

/// For people: "int", "list of 3", "sklearn.svm._classes.SVC".
std::string kind_text(const Value& value);

}  // namespace ingot::formats::pickle
