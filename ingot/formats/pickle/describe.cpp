// Prints a pickle as a tree.
#include "ingot/formats/pickle/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/formats/pickle/numpy.h"

namespace ingot::formats::pickle {
namespace {

constexpr std::size_t kMostEntries = 60, kMostItems = 6, kMostText = 60;
constexpr int kMostDepth = 24;

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, kMostText)) {
    const auto u = static_cast<unsigned char>(c);
    out += u < 0x20 || u == 0x7f ? fmt::format("\\x{:02x}", u) : std::string(1, c);
  }
  return out + (text.size() > kMostText ? "'..." : "'");
}

std::string shape_text(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "[" + text + "]";
}

class Printer {
 public:
  Printer(const Document& document, std::size_t most) : document_(document), most_(most) {}

  Description take() {
    add("", *document_.root, 0);
    for (const Symbol& symbol : document_.symbols())
      (symbol.is_called ? made_.called : made_.imported).push_back(symbol.full_name());
    std::ranges::sort(made_.called);
    std::ranges::sort(made_.imported);
    made_.versions.assign(versions_.begin(), versions_.end());
    return std::move(made_);
  }

 private:
  void line(int depth, const std::string& text) {
    if (made_.tree.size() >= most_) {
      made_.is_cut = true;
      return;
    }
    made_.tree.push_back(std::string(static_cast<std::size_t>(depth) * 2, ' ') + text);
  }

  /// What fits into one line; empty: it does not.
  std::string short_text(const Value& value, int depth = 0) {
    switch (value.kind) {
      case Kind::none:
        return "None";
      case Kind::boolean:
        return value.integer ? "True" : "False";
      case Kind::integer:
        return std::to_string(value.integer);
      case Kind::big_integer:
        return fmt::format("an integer of {} bytes", value.text.size());
      case Kind::real:
        return fmt::format("{}", value.real);
      case Kind::bytes:
        return fmt::format("{} bytes", value.text.size());
      case Kind::text:
        return quoted(value.text);
      case Kind::global:
        return value.symbol->full_name();
      case Kind::persistent:
        return "persistent " + short_text(*value.items[0], depth + 1);
      case Kind::object:
        return array_text(value);
      default:
        return value.items.empty() ? kind_text(value) : sequence_text(value, depth);
    }
  }

  std::string sequence_text(const Value& value, int depth) {
    if (value.is(Kind::dict) || value.items.size() > kMostItems || depth > 2) return {};
    std::string text;
    for (const Ref item : value.items) {
      const std::string one = short_text(*item, depth + 1);
      if (one.empty() || text.size() > 100) return {};
      text += (text.empty() ? "" : ", ") + one;
    }
    return value.is(Kind::tuple) ? "(" + text + ")" : value.is(Kind::list) ? "[" + text + "]" : "{" + text + "}";
  }

  std::string array_text(const Value& value) try {
    if (const auto array = read_array(document_, value)) {
      std::string first;
      if (array->size() <= 8 && array->is_number()) {
        for (const double v : to_doubles(document_, *array))
          first += fmt::format("{}{:.6g}", first.empty() ? "" : ", ", v);
        first = " [" + first + "]";
      }
      return array->dtype.name() + shape_text(array->dims) + first;
    }
    if (const auto number = number_of(document_, value)) return fmt::format("{}", *number);
    if (const auto text = text_of(document_, value)) return quoted(*text);
    return {};
  } catch (const Error& error) {
    return "damaged: " + error.message();
  }

  void note_version(std::string_view key, const Value& value) {
    if (!key.ends_with("_version") || !value.is_text()) return;
    std::string_view library = key.substr(0, key.size() - 8);
    while (library.starts_with('_')) library.remove_prefix(1);
    if (library == "sklearn") library = "scikit-learn";
    if (!library.empty()) versions_.insert(std::string(library) + " " + std::string(value.text));
  }

  void add(const std::string& label, const Value& value, int depth) {
    const std::string head = label.empty() ? "" : label + ": ";
    if (const std::string text = short_text(value); !text.empty()) return line(depth, head + text);
    const bool is_known = !seen_.insert(&value).second;
    line(depth, head + kind_text(value) + (is_known ? " (as above)" : ""));
    if (is_known || made_.is_cut) return;
    if (depth >= kMostDepth) return line(depth + 1, "...");
    if (value.is(Kind::object)) return add_object(value, depth + 1);
    value.is(Kind::dict) ? add_entries(value.items, depth + 1) : add_items(value.items, depth + 1);
  }

  void add_object(const Value& value, int depth) {
    const Object& object = *value.object;
    const std::vector<Ref> attributes = attributes_of(value);
    if (attributes.empty() && object.args && !object.args->items.empty()) add("arguments", *object.args, depth);
    add_entries(attributes, depth);
    for (const Ref state : object.states)
      if (!state->is(Kind::dict) && attributes.empty()) add("state", *state, depth);
    if (!object.items.empty()) add_items(object.items, depth);
    if (!object.entries.empty()) add_entries(object.entries, depth);
  }

  void add_entries(std::span<const Ref> entries, int depth) {
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
      const Value& key = *entries[i];
      const std::string name = key.is_text() ? std::string(key.text.substr(0, kMostText)) : short_text(key);
      note_version(name, *entries[i + 1]);
      if (i / 2 >= kMostEntries) return line(depth, fmt::format("... {} more", entries.size() / 2 - kMostEntries));
      add(name, *entries[i + 1], depth);
    }
  }

  void add_items(std::span<const Ref> items, int depth) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i >= kMostItems) return line(depth, fmt::format("... {} more", items.size() - kMostItems));
      add("-", *items[i], depth);
    }
  }

  const Document& document_;
  std::size_t most_;
  Description made_;
  std::set<std::string> versions_;
  std::unordered_set<Ref> seen_;
};

}  // namespace

Description describe(const Document& document, std::size_t most_lines) { return Printer(document, most_lines).take(); }

}  // namespace ingot::formats::pickle
