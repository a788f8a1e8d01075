#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot {
class Budget;
}

namespace ingot::formats::json {

struct Tape;

/// A value of a parsed text; it keeps the text's values alive. Asking a value for what it is not gives nothing: an
/// absent key, a number's entries.
class Value {
 public:
  Value() = default;  // absent; so are keys and entries that are not there

  bool exists() const { return tape_ != nullptr; }
  bool is_null() const { return !exists() || kind() == Kind::null; }
  bool is_bool() const { return exists() && kind() == Kind::boolean; }
  bool is_integer() const { return exists() && kind() == Kind::integer; }
  bool is_number() const { return exists() && (kind() == Kind::integer || kind() == Kind::real); }
  bool is_text() const { return exists() && kind() == Kind::text; }
  bool is_list() const { return exists() && kind() == Kind::list; }
  bool is_object() const { return exists() && kind() == Kind::object; }

  std::optional<bool> as_bool() const;
  std::optional<std::int64_t> as_int() const;  // also of a real number without fraction
  std::optional<double> as_number() const;     // true is 1
  std::string_view text() const;               // empty unless it is one

  /// Of a list or an object: how many entries it has.
  std::size_t size() const;
  /// An entry of a list; the last key of an object counts if it has the same one twice.
  Value operator[](std::size_t i) const;
  Value operator[](std::string_view key) const;
  std::vector<Value> entries() const;                               // of a list
  std::vector<std::pair<std::string_view, Value>> members() const;  // of an object
  /// Written again, in one line.
  std::string dump() const;

 private:
  enum class Kind : std::uint8_t { null, boolean, integer, real, text, list, object };
  friend struct Tape;
  friend Value parse(std::string_view, Budget*);
  Value(std::shared_ptr<const Tape> tape, std::uint32_t at) : tape_(std::move(tape)), at_(at) {}
  Kind kind() const;
  void write(std::string& out) const;

  std::shared_ptr<const Tape> tape_;
  std::uint32_t at_ = 0;
};

/// JSON as Python writes it, with NaN and Infinity. Nested at most 512 deep.
Value parse(std::string_view text, Budget* budget = nullptr);

/// A text in quotes, with what JSON escapes.
std::string quoted(std::string_view text);

}  // namespace ingot::formats::json
