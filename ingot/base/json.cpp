// JSON to be written.
#include "ingot/base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ingot {

Json::Json() = default;
Json::Json(bool value) : kind_(Kind::boolean), integer_(value) {}
Json::Json(double value) : kind_(Kind::real), real_(value) {}
Json::Json(const char* text) : kind_(Kind::string), text_(text) {}
Json::Json(std::string text) : kind_(Kind::string), text_(std::move(text)) {}
Json::Json(std::string_view text) : kind_(Kind::string), text_(text) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> entries) {
  const auto is_member = [](const Json& e) {
    return e.kind_ == Kind::array && e.size() == 2 && e.items_.front().is_string();
  };
  kind_ = std::ranges::all_of(entries, is_member) ? Kind::object : Kind::array;
  if (kind_ == Kind::array) items_.assign(entries.begin(), entries.end());
  if (kind_ == Kind::object)
    for (const Json& e : entries) (*this)[e.items_.front().text_] = e.items_.back();
}

Json Json::array() {
  Json json;
  json.kind_ = Kind::array;
  return json;
}

Json Json::object() {
  Json json;
  json.kind_ = Kind::object;
  return json;
}

Json& Json::operator[](std::string_view key) {
  kind_ = Kind::object;
  const auto at = std::ranges::find(keys_, key);
  if (at != keys_.end()) return items_[static_cast<std::size_t>(at - keys_.begin())];
  keys_.emplace_back(key);
  return items_.emplace_back();
}

const Json& Json::operator[](std::string_view key) const {
  static const Json kNull;
  const auto at = std::ranges::find(keys_, key);
  return at == keys_.end() ? kNull : items_[static_cast<std::size_t>(at - keys_.begin())];
}

bool Json::contains(std::string_view key) const { return std::ranges::find(keys_, key) != keys_.end(); }

void Json::update(const Json& other) {
  for (const auto& [key, value] : other.items()) (*this)[key] = value;
}

void Json::push_back(Json value) {
  kind_ = Kind::array;
  items_.push_back(std::move(value));
}

std::vector<std::pair<const std::string&, const Json&>> Json::items() const {
  std::vector<std::pair<const std::string&, const Json&>> pairs;
  for (std::size_t i = 0; i < keys_.size(); ++i) pairs.emplace_back(keys_[i], items_[i]);
  return pairs;
}

double Json::number() const {
  if (kind_ == Kind::real) return real_;
  return is_negative_ ? static_cast<double>(static_cast<std::int64_t>(integer_)) : static_cast<double>(integer_);
}

struct JsonWriter {
  using Tree = nlohmann::ordered_json;

  static Tree tree_of(const Json& json) {
    switch (json.kind_) {
      case Json::Kind::null:
        return nullptr;
      case Json::Kind::boolean:
        return json.integer_ != 0;
      case Json::Kind::integer:
        return json.is_negative_ ? Tree(static_cast<std::int64_t>(json.integer_)) : Tree(json.integer_);
      case Json::Kind::real:
        return json.real_;
      case Json::Kind::string:
        return json.text_;
      case Json::Kind::array: {
        Tree tree = Tree::array();
        for (const Json& item : json.items_) tree.push_back(tree_of(item));
        return tree;
      }
      case Json::Kind::object:
        break;
    }
    Tree tree = Tree::object();
    for (std::size_t i = 0; i < json.keys_.size(); ++i) tree[json.keys_[i]] = tree_of(json.items_[i]);
    return tree;
  }
};

std::string Json::dump(int indent) const {
  return JsonWriter::tree_of(*this).dump(indent, ' ', false, JsonWriter::Tree::error_handler_t::replace);
}

}  // namespace ingot
