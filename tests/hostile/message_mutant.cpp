// Protobuf messages with a few fields changed, without knowing what they mean.
#include <cstring>
#include <optional>
#include <vector>

#include "tests/hostile/draws.h"
#include "tests/hostile/mutants.h"

namespace ingot::test {
namespace {

struct Field {
  std::uint64_t number = 0;
  int wire = 0;             // 0 varint, 1 eight bytes, 2 with a length, 5 four bytes
  std::uint64_t value = 0;  // of wire 0, 1, 5
  std::string bytes{};      // of wire 2 that is no message
  std::vector<Field> fields{};
  bool is_message = false;
};

constexpr int kDeepest = 14;
constexpr std::size_t kLongestMessage = 1 << 22;

std::optional<std::uint64_t> take_varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text[0]);
    text.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::vector<Field>> parsed(std::string_view text, int depth);

std::optional<Field> take_field(std::string_view& text, int depth) {
  const auto key = take_varint(text);
  if (!key || *key >> 3 == 0 || *key >> 3 > 20000) return std::nullopt;
  Field field{.number = *key >> 3, .wire = static_cast<int>(*key & 7)};
  const auto value = field.wire == 0 || field.wire == 2 ? take_varint(text) : std::optional<std::uint64_t>(0);
  if (!value) return std::nullopt;
  field.value = *value;
  if (field.wire == 1 || field.wire == 5) {
    const std::size_t size = field.wire == 1 ? 8 : 4;
    if (text.size() < size) return std::nullopt;
    std::memcpy(&field.value, text.data(), size);
    text.remove_prefix(size);
  } else if (field.wire == 2) {
    if (*value > text.size()) return std::nullopt;
    const std::string_view inner = text.substr(0, *value);
    text.remove_prefix(*value);
    auto fields = depth < kDeepest && inner.size() > 1 && inner.size() < kLongestMessage ? parsed(inner, depth + 1)
                                                                                         : std::nullopt;
    field.is_message = fields.has_value();
    if (fields)
      field.fields = std::move(*fields);
    else
      field.bytes = inner;
  } else if (field.wire != 0) {
    return std::nullopt;
  }
  return field;
}

std::optional<std::vector<Field>> parsed(std::string_view text, int depth) {
  std::vector<Field> fields;
  while (!text.empty()) {
    auto field = take_field(text, depth);
    if (!field) return std::nullopt;
    fields.push_back(std::move(*field));
  }
  return fields;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::string written(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& f : fields) {
    put_varint(out, f.number << 3 | static_cast<unsigned>(f.wire));
    if (f.wire == 0) {
      put_varint(out, f.value);
    } else if (f.wire == 2) {
      const std::string inner = f.is_message ? written(f.fields) : f.bytes;
      put_varint(out, inner.size());
      out += inner;
    } else {
      out.append(reinterpret_cast<const char*>(&f.value), f.wire == 1 ? 8 : 4);
    }
  }
  return out;
}

/// A field and the list that it stands in.
struct Place {
  std::vector<Field>* list;
  std::size_t index;
  Field& field() const { return (*list)[index]; }
};

void collect(std::vector<Field>& fields, std::vector<Place>& places) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    places.push_back({&fields, i});
    collect(fields[i].fields, places);
  }
}

/// A field somewhere else of the same wire type.
const Field* another(std::vector<Place>& places, const Field& like, Draws& draws) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Field& other = draws.one_of(places).field();
    if (&other != &like && other.wire == like.wire && other.is_message == like.is_message) return &other;
  }
  return nullptr;
}

void change_bytes(Field& field, Draws& draws) {
  switch (draws.below(4)) {
    case 0:
      field.bytes.clear();
      break;
    case 1:
      field.bytes.resize(field.bytes.size() / 2);
      break;
    case 2:
      field.bytes += field.bytes.empty() ? std::string("x:0") : field.bytes.substr(0, 64);
      break;
    default:
      if (!field.bytes.empty()) field.bytes[draws.below(field.bytes.size())] = static_cast<char>(draws.next());
  }
}

void change(std::vector<Field>& root, Draws& draws) {
  std::vector<Place> places;
  collect(root, places);
  if (places.empty()) return;
  const Place place = draws.one_of(places);
  std::vector<Field>& list = *place.list;
  Field& field = place.field();
  const auto at = static_cast<std::ptrdiff_t>(place.index);
  switch (draws.below(8)) {
    case 0:
      list.erase(list.begin() + at);
      break;
    case 1: {
      Field copy = field;
      list.insert(list.begin() + at, std::move(copy));
      break;
    }
    case 2:
      std::swap(field, list[draws.below(list.size())]);
      break;
    case 3:
      if (const Field* other = another(places, field, draws)) {
        Field copy = *other;  // may hold this one
        copy.number = field.number;
        field = std::move(copy);
      }
      break;
    case 4:
      field.fields.clear();
      field.bytes.clear();
      field.value = 0;
      break;
    default:
      if (field.is_message && !field.fields.empty())
        field.fields.erase(field.fields.begin() + static_cast<std::ptrdiff_t>(draws.below(field.fields.size())));
      else if (field.wire == 2)
        change_bytes(field, draws);
      else
        field.value = static_cast<std::uint64_t>(draws.odd_number());
  }
}

}  // namespace

std::string mutated_message(const std::string& file, std::uint64_t seed) {
  auto root = parsed(file, 0);
  if (!root) return file;
  Draws draws(seed);
  for (std::size_t left = 1 + draws.below(3); left > 0; --left) change(*root, draws);
  return written(*root);
}

}  // namespace ingot::test
