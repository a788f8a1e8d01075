#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ingot::ops {

/// A vocabulary and the merges that join its symbols, the first of them first.
class BpeModel {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;  // what the extensions give for symbols that they do not know

  /// A symbol of a text: its number, and how many bytes it stands for.
  struct Symbol {
    std::uint32_t id;
    std::uint32_t bytes;
  };

  void add(std::string token, std::uint32_t id) { ids_[std::move(token)] = id; }
  /// The token's number; a new token gets the next.
  std::uint32_t add_if_new(const std::string& token);
  std::uint32_t id_of(const std::string& token) const;
  /// After all tokens; parts need not be in the vocabulary.
  void add_merge(std::string_view left, std::string_view right);
  /// "<0x41>" also as the byte itself.
  void add_byte_tokens();

  /// Joins symbols until no merge fits, in n log n steps.
  void merge(std::vector<Symbol>& symbols) const;

 private:
  struct Merge {
    std::uint32_t rank, id;
  };
  const Merge* find(std::uint32_t left, std::uint32_t right) const;

  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::uint32_t rank_ = 0;
};

}  // namespace ingot::ops
