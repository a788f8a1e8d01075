// UBJSON as XGBoost writes it: all numbers big-endian, arrays counted and perhaps of one type.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/boosting/json.h"

namespace ingot::formats::boosting {
namespace {

constexpr int kMostNested = 512;

class UbjsonParser {
 public:
  UbjsonParser(std::string_view bytes, Budget& budget) : bytes_(bytes), budget_(budget) {}

  Json parse() { return value(marker(), 0); }

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw Error(Code::bad_json, fmt::format("the UBJSON file has {} (at byte {})", what, at_));
  }
  char marker() {
    if (at_ >= bytes_.size()) refuse("no end");
    return bytes_[at_++];
  }
  char peek() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) refuse("a length beyond its end");
    const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += part.size();
    return part;
  }
  std::uint64_t big_endian(std::uint64_t count) {
    std::uint64_t value = 0;
    for (const char c : take(count)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  static int width(char type) {
    switch (type) {
      case 'i':
      case 'U':
      case 'C':
        return 1;
      case 'I':
        return 2;
      case 'l':
      case 'd':
        return 4;
      case 'L':
      case 'D':
        return 8;
      default:
        return 0;
    }
  }
  double number(char type) {
    const int bytes = width(type);
    if (bytes == 0) refuse("a marker that is none");
    const std::uint64_t bits = big_endian(static_cast<std::uint64_t>(bytes));
    if (type == 'd') return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (type == 'D') return std::bit_cast<double>(bits);
    if (type == 'U' || type == 'C') return static_cast<double>(bits);
    const int shift = 64 - 8 * bytes;
    return static_cast<double>(std::bit_cast<std::int64_t>(bits << shift) >> shift);
  }
  std::uint64_t length() {
    const char type = marker();
    const double count = type == 'd' || type == 'D' ? -1 : number(type);
    if (count < 0 || count > static_cast<double>(bytes_.size())) refuse("a length that its bytes cannot have");
    return static_cast<std::uint64_t>(count);
  }

  Json value(char type, int depth) {
    if (depth > kMostNested) refuse("too many levels");
    Json json;
    switch (type) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case 'S':
      case 'H':
        json.kind = Json::Kind::text;
        json.text = take(length());
        return json;
      case 'T':
      case 'F':
        json.kind = Json::Kind::boolean;
        json.number = type == 'T';
        return json;
      case 'Z':
      case 'N':
        return json;
      default:
        json.kind = Json::Kind::number;
        json.number = number(type);
        return json;
    }
  }

  Json object(int depth) {
    Json json;
    json.kind = Json::Kind::object;
    while (peek() != '}') {
      json.keys.emplace_back(take(length()));
      json.items.push_back(value(marker(), depth + 1));
      budget_.poll();
    }
    ++at_;
    return json;
  }

  Json array(int depth) {
    Json json;
    json.kind = Json::Kind::array;
    char type = '\0';
    if (peek() == '$') {
      ++at_;
      type = marker();
      if (peek() != '#') refuse("an array of one type without its length");
    }
    if (peek() == '#') {
      ++at_;
      const std::uint64_t count = length();
      if (width(type) > 0) {
        json.kind = Json::Kind::numbers;
        json.numbers.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes_.size() - at_)));
        for (std::uint64_t i = 0; i < count; ++i) json.numbers.push_back(number(type));
        return json;
      }
      for (std::uint64_t i = 0; i < count; ++i) json.items.push_back(value(type ? type : marker(), depth + 1));
      return json;
    }
    while (peek() != ']') json.items.push_back(value(marker(), depth + 1));
    ++at_;
    return json;
  }

  std::string_view bytes_;
  Budget& budget_;
  std::size_t at_ = 0;
};

}  // namespace

bool looks_like_ubjson(std::string_view bytes) {
  return bytes.size() > 4 && bytes[0] == '{' && std::string_view("LiUIl").find(bytes[1]) != std::string_view::npos;
}

Json parse_ubjson(std::string_view bytes, Budget* budget) {
  return UbjsonParser(bytes, budget ? *budget : Budget::unlimited()).parse();
}

}  // namespace ingot::formats::boosting
