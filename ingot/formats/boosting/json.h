#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::boosting {

/// A JSON value as boosting libraries write them: as text, NaN and Infinity included, or as UBJSON.
struct Json {
  enum class Kind : std::uint8_t { null, boolean, number, text, array, numbers, object };
  Kind kind = Kind::null;
  double number = 0;  // boolean: 0 or 1
  std::string text{};
  std::vector<double> numbers{};  // an array of nothing but numbers
  std::vector<Json> items{};      // other arrays; objects: the values
  std::vector<std::string> keys{};

  bool is(Kind k) const { return kind == k; }
  /// Null: there is none of that name, or this is no object.
  const Json* find(std::string_view key) const;
  /// Throws where it is missing.
  const Json& at(std::string_view key) const;
  /// Numbers, also as texts; throws where it is none.
  double as_number() const;
  std::int64_t as_integer() const;
  /// The elements of an array of numbers; texts of numbers and booleans count.
  std::vector<double> as_numbers() const;
  std::vector<std::int64_t> as_integers() const;
  std::size_t size() const { return is(Kind::numbers) ? numbers.size() : items.size(); }
};

Json parse_json(std::string_view text, Budget* budget = nullptr);
Json parse_ubjson(std::string_view bytes, Budget* budget = nullptr);

/// Whether the bytes begin as an object in UBJSON does.
bool looks_like_ubjson(std::string_view bytes);

}  // namespace ingot::formats::boosting
