#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot {

/// A JSON value for reports: it keeps the order of its keys and is written, never read from text.
class Json {
 public:
  Json();  // null
  Json(bool value);
  Json(double value);  // written as null if it is not finite
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  template <std::integral T>
  Json(T value) : kind_(Kind::integer), is_negative_(std::cmp_less(value, 0)), integer_(static_cast<std::uint64_t>(value)) {}
  template <class T> Json(const std::vector<T>& values) : kind_(Kind::array), items_(values.begin(), values.end()) {}
  template <class T> Json(const std::map<std::string, T>& values) : kind_(Kind::object) {
    for (const auto& [key, value] : values) (*this)[key] = value;
  }
  /// An object if each entry is a pair that begins with a text, {{"a", 1}, {"b", 2}}; else an array.
  Json(std::initializer_list<Json> entries);
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  static Json array();
  static Json object();

  /// Of an object, or of null, which becomes one: the key is added if it is not there.
  Json& operator[](std::string_view key);
  /// Null if the key is not there.
  const Json& operator[](std::string_view key) const;
  bool contains(std::string_view key) const;
  /// Adds the other object's keys, or replaces their values.
  void update(const Json& other);

  Json& operator[](std::size_t i) { return items_.at(i); }
  const Json& operator[](std::size_t i) const { return items_.at(i); }
  Json& back() { return items_.back(); }
  void push_back(Json value);

  /// The entries of an array, the values of an object.
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  /// Of an object; they belong to it.
  std::vector<std::pair<const std::string&, const Json&>> items() const;

  bool is_string() const { return kind_ == Kind::string; }
  bool is_true() const { return kind_ == Kind::boolean && integer_ != 0; }
  const std::string& text() const { return text_; }  // empty unless it is a string
  double number() const;                             // 0 unless it is one

  /// With `indent` spaces per level, or in one line if it is negative. What is not UTF-8 becomes U+FFFD.
  std::string dump(int indent = -1) const;

 private:
  enum class Kind : std::uint8_t { null, boolean, integer, real, string, array, object };
  friend struct JsonWriter;

  Kind kind_ = Kind::null;
  bool is_negative_ = false;
  std::uint64_t integer_ = 0;  // of a negative one, the bits of the signed number
  double real_ = 0;
  std::string text_;
  std::vector<std::string> keys_;  // of an object, one per item
  std::vector<Json> items_;
};

}  // namespace ingot
