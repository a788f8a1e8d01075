// SentencePiece's precompiled rules of normalisation.
#include "ingot/ops/contrib/charsmap.h"

#include <algorithm>
#include <cstring>

#include "ingot/base/error.h"

namespace ingot::ops {
namespace {

[[noreturn]] void refuse_rules() { throw Error(Code::bad_attribute, "the rules of normalisation are damaged"); }

// A unit of the array, as Darts writes it.
std::uint32_t base(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FF; }
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }

}  // namespace

Charsmap::Charsmap(std::string_view bytes) {
  if (bytes.empty()) return;
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) refuse_rules();
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size() || size < sizeof(std::uint32_t)) refuse_rules();
  units_.resize(size / sizeof(std::uint32_t));
  std::memcpy(units_.data(), bytes.data(), units_.size() * sizeof(std::uint32_t));
  replacements_ = bytes.substr(size);
}

std::uint32_t Charsmap::unit(std::uint32_t at) const {
  if (at >= units_.size()) refuse_rules();
  return units_[at];
}

Charsmap::Rule Charsmap::longest(std::string_view text) const {
  Rule rule;
  if (units_.empty()) return rule;
  std::uint32_t at = base(unit(0));
  for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    at ^= byte;
    const std::uint32_t node = unit(at);
    if (label(node) != byte) break;
    at ^= base(node);
    if (!has_leaf(node)) continue;
    const std::size_t begin = unit(at) & 0x7FFFFFFF;
    if (begin >= replacements_.size()) refuse_rules();
    const std::size_t end = std::min(replacements_.find('\0', begin), replacements_.size());
    rule = {i + 1, std::string_view(replacements_).substr(begin, end - begin)};
  }
  return rule;
}

}  // namespace ingot::ops
