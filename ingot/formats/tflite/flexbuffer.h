#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot::formats::tflite {

/// A value of a FlexBuffer, the schemaless form in which custom operators keep their options.
struct FlexValue {
  struct Member;
  using List = std::vector<FlexValue>;
  using Map = std::vector<Member>;  ///< sorted by key
  struct Blob {
    std::string bytes;
    bool operator==(const Blob&) const = default;
  };

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Blob, List, Map> value;

  bool is_null() const { return value.index() == 0; }
  /// The member of a map; null if this is no map or has no such key.
  const FlexValue* find(std::string_view key) const;
  /// Numbers as numbers, whatever their kind in the file; `otherwise` if it is none or does not fit.
  double number(double otherwise = 0) const;
  std::int64_t integer(std::int64_t otherwise = 0) const;
  bool boolean(bool otherwise = false) const;
  std::string_view text(std::string_view otherwise = {}) const;

  bool operator==(const FlexValue& other) const;
};

struct FlexValue::Member {
  std::string key;
  FlexValue value;
  bool operator==(const Member&) const = default;
};

/// Reads a FlexBuffer that need not be trusted; throws Error if it is damaged. Empty bytes are null.
FlexValue read_flexbuffer(const Bytes& bytes);

Bytes write_flexbuffer(const FlexValue& value);

}  // namespace ingot::formats::tflite
