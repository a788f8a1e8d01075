// Texts that the code computes: names of modes and devices, and messages.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/frontends/torch/operator_table.h"

namespace ingot::frontends::torch {
namespace {

using Made = std::optional<Item>;
constexpr std::size_t kLongest = 100'000;

/// What is made of texts stays as long as messages are.
void check_length(const std::string& text) {
  if (text.size() > kLongest) throw Error(Code::node_limit, "a text of the code grows too long");
}

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string formatted(std::string_view pattern, const std::vector<Item>& args) {
  std::string made;
  std::size_t next = 1;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{' && i + 1 < pattern.size() && pattern[i + 1] == '}') {
      if (next < args.size()) made += shown(args[next++]);
      check_length(made);
      ++i;
    } else {
      made += pattern[i];
    }
  }
  return made;
}

/// The place that an argument names, from the front; `otherwise` where it is left out.
std::size_t place(const std::vector<Item>& args, std::size_t i, std::size_t size, std::size_t otherwise) {
  const auto* at = i < args.size() ? args[i].get<std::int64_t>() : nullptr;
  if (!at) return otherwise;
  const auto end = static_cast<std::int64_t>(size);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(*at < 0 ? *at + end : *at, 0, end));
}

Made joined(const std::string& between, const std::vector<Item>& parts) {
  std::string made;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto* part = parts[i].get<std::string>();
    if (!part) return std::nullopt;
    made += (i ? between : "") + *part;
    check_length(made);
  }
  return Item(std::move(made));
}

Item parted(std::string_view text, std::string_view by) {
  std::vector<Item> parts;
  while (true) {
    const std::size_t at = text.find(by);
    parts.emplace_back(std::string(text.substr(0, at)));
    if (at == std::string_view::npos) return Item::list(std::move(parts));
    text.remove_prefix(at + by.size());
  }
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + with.size())) {
    text.replace(at, old.size(), with);
    check_length(text);
  }
  return text;
}

std::string stripped(std::string_view text, std::string_view of) {
  const std::size_t from = text.find_first_not_of(of), to = text.find_last_not_of(of);
  return from == std::string_view::npos ? std::string() : std::string(text.substr(from, to - from + 1));
}

Made with_another(std::string_view name, const std::string& text, const std::string& other,
                  const std::vector<Item>& args) {
  if (name == "eq") return text == other;
  if (name == "ne") return text != other;
  if (name == "add") {
    check_length(other);
    return Item(text + other);
  }
  if (name == "__contains__") return text.find(other) != std::string::npos;
  if (name == "find") {
    const std::size_t from = place(args, 2, text.size(), 0), to = place(args, 3, text.size(), text.size());
    const std::size_t at = from > to ? std::string::npos : std::string_view(text).substr(0, to).find(other, from);
    return at == std::string::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at);
  }
  if (name == "startswith") return text.starts_with(other);
  if (name == "endswith") return text.ends_with(other);
  if (name == "strip") return Item(stripped(text, other));
  if (name == "split" && !other.empty()) return parted(text, other);
  const auto* with = args.size() > 2 ? args[2].get<std::string>() : nullptr;
  if (name == "replace" && with && !other.empty()) return Item(replaced(text, other, *with));
  return std::nullopt;
}

}  // namespace

std::string shown(const Item& item) {
  if (const auto* v = item.get<std::int64_t>()) return fmt::format("{}", *v);
  if (const auto* v = item.get<double>()) return fmt::format("{}", *v);
  if (const auto* v = item.get<bool>()) return *v ? "True" : "False";
  if (const auto* v = item.get<std::string>()) return *v;
  if (const auto* v = item.get<Device>()) return *v->name;
  return "<" + kind_text(item) + ">";
}

std::optional<Item> text_call(std::string_view name, const std::vector<Item>& args) {
  const std::string& text = *args[0].get<std::string>();
  if (name == "format") return Item(formatted(text, args));
  if (name == "len") return static_cast<std::int64_t>(text.size());
  if (name == "Bool") return !text.empty();
  if (name == "strip" && args.size() == 1) return Item(stripped(text, " \t\n"));
  if (name == "lower" || name == "upper") {
    std::string made = text;
    for (char& letter : made) letter = name == "lower" ? ascii_lower(letter) : ascii_upper(letter);
    return Item(std::move(made));
  }
  const auto* parts = args.size() == 2 ? parts_of(args[1]) : nullptr;
  if (name == "join" && parts) return joined(text, *parts);
  if (name == "__getitem__" && args.size() == 2) {
    const std::size_t at = place(args, 1, text.size(), text.size());
    if (at >= text.size()) throw Error(Code::bad_source_graph, "the code asks for a letter that a text lacks");
    return Item(text.substr(at, 1));
  }
  if (name == "slice" && (args.size() < 4 || args[3].is_none() || shown(args[3]) == "1")) {
    const std::size_t from = place(args, 1, text.size(), 0), to = place(args, 2, text.size(), text.size());
    return Item(from < to ? text.substr(from, to - from) : std::string());
  }
  const auto* other = args.size() > 1 ? args[1].get<std::string>() : nullptr;
  return other ? with_another(name, text, *other, args) : std::nullopt;
}

}  // namespace ingot::frontends::torch
