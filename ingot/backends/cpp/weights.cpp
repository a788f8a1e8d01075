// Constant tensors of a program, in its source or in a file beside it.
#include "ingot/backends/cpp/weights.h"

#include <fmt/format.h>

#include <cmath>

#include "ingot/backends/cpp/types.h"
#include "ingot/base/elements.h"
#include "ingot/lower/plan.h"

namespace ingot::backends::cpp {

using namespace lower;

namespace {

constexpr std::size_t kAlignment = 64;

/// The elements as they lie in memory, those of less than a byte one per byte.
std::string bytes_of(const Tensor& tensor) {
  const auto* data = reinterpret_cast<const char*>(tensor.bytes().data());
  if (!is_sub_byte(tensor.dtype())) return std::string(data, tensor.bytes().size());
  const unsigned bits = bits_of(tensor.dtype()), per_byte = 8 / bits;
  std::string unpacked;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto k = static_cast<std::uint64_t>(i);
    const auto byte = static_cast<unsigned char>(data[k / per_byte]);
    int value = (byte >> (k % per_byte * bits)) & ((1 << bits) - 1);
    if (is_signed_integer(tensor.dtype()) && value >= 1 << (bits - 1)) value -= 1 << bits;
    unpacked += static_cast<char>(value);
  }
  return unpacked;
}

template <class T> std::string number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr bool kIsFloat = sizeof(T) == 4;
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return kIsFloat ? text + "f" : text;
  } else if constexpr (sizeof(T) == 8) {
    if constexpr (std::is_signed_v<T>)
      return value == INT64_MIN ? "INT64_MIN" : fmt::format("INT64_C({})", value);
    else
      return fmt::format("UINT64_C({})", value);
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return value == INT32_MIN ? "INT32_MIN" : fmt::format("{}", value);
  } else {
    return fmt::format("{}", value);
  }
}

template <class T> void add_numbers(const std::string& bytes, std::string& text) {
  std::size_t column = 0;
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    const std::string n = number(value);
    if (column + n.size() > 110) {
      text += "\n    ";
      column = 0;
    }
    text += n + ", ";
    column += n.size() + 2;
  }
}

void add_array(const Buffer& b, const std::string& name, std::string& text) {
  const std::string bytes = bytes_of(*b.value);
  const std::string storage = c_type(b.type).storage;
  text += fmt::format("\n// {}\nstatic const {} {}[{}] = {{\n    ", comment(b.name), storage, name,
                      std::max<std::int64_t>(b.value->size(), 1));
  if (bytes.empty()) text += "0";
  if (storage == "float") add_numbers<float>(bytes, text);
  if (storage == "double") add_numbers<double>(bytes, text);
  if (storage == "int8_t") add_numbers<std::int8_t>(bytes, text);
  if (storage == "uint8_t" || storage == "bool") add_numbers<std::uint8_t>(bytes, text);
  if (storage == "int16_t") add_numbers<std::int16_t>(bytes, text);
  if (storage == "uint16_t") add_numbers<std::uint16_t>(bytes, text);
  if (storage == "int32_t") add_numbers<std::int32_t>(bytes, text);
  if (storage == "uint32_t") add_numbers<std::uint32_t>(bytes, text);
  if (storage == "int64_t") add_numbers<std::int64_t>(bytes, text);
  if (storage == "uint64_t") add_numbers<std::uint64_t>(bytes, text);
  text += "\n};\n";
}

}  // namespace

WeightTable make_weights(const Program& program, const Printer& printer, const std::unordered_set<std::string>& words,
                         bool in_file, std::string& text, std::string& bytes) {
  WeightTable table;
  table.offsets.assign(program.buffers.size(), -1);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (b.role != Buffer::Role::weight || !words.contains(printer.buffer(static_cast<int>(i)))) continue;
    table.bytes += b.value->size() * element_bytes(b.type);
    if (!in_file) {
      add_array(b, printer.buffer(static_cast<int>(i)), text);
      continue;
    }
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
    table.offsets[i] = static_cast<std::int64_t>(bytes.size());
    bytes += bytes_of(*b.value);
  }
  return table;
}

std::string weight_functions(const std::string& set, const std::string& load, std::int64_t bytes, bool may_map) {
  std::string text = fmt::format(R"(
static const unsigned char* weights = NULL;

void {0}(const void* bytes) {{ weights = (const unsigned char*)bytes; }}
)",
                                 set);
  if (load.empty()) return text;
  const std::string mapping = fmt::format(R"(#ifdef INGOT_MAPS
int {1}(const char* path) {{
  const int file = open(path, O_RDONLY);
  struct stat about;
  void* fresh = MAP_FAILED;
  if (file >= 0 && fstat(file, &about) == 0 && about.st_size >= {2}) fresh = mmap(NULL, {2}, PROT_READ, MAP_PRIVATE, file, 0);
  if (file >= 0) close(file);
  if (fresh == MAP_FAILED) return 1;
  if (owned) munmap(owned, {2});
  owned = fresh;
  {0}(fresh);
  return 0;
}}
#else
)",
                                          set, load, bytes);
  const std::string reading = fmt::format(R"(int {1}(const char* path) {{
  FILE* file = fopen(path, "rb");
  unsigned char* fresh = (unsigned char*)malloc({2} + 64);
  unsigned char* bytes = fresh ? fresh + (64 - (size_t)fresh % 64) : NULL;
  const size_t count = file && bytes ? fread(bytes, 1, {2}, file) : 0;
  if (file) fclose(file);
  if (!bytes || count != {2}) {{
    free(fresh);
    return 1;
  }}
  free(owned);
  owned = fresh;
  {0}(bytes);
  return 0;
}}
)",
                                          set, load, bytes);
  text += "\nstatic void* owned = NULL;\n\n";
  return may_map ? text + mapping + reading + "#endif\n" : text + reading;
}

std::string_view mapping_headers() {
  return "\n#if (defined(__unix__) || defined(__APPLE__)) && !defined(INGOT_NO_MAP)\n#define INGOT_MAPS\n#include "
         "<fcntl.h>\n"
         "#include <sys/mman.h>\n#include <sys/stat.h>\n#include <unistd.h>\n#endif\n";
}

}  // namespace ingot::backends::cpp
