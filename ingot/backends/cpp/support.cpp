// The text of small functions that generated code calls.
#include "ingot/backends/cpp/support.h"

#include <fmt/format.h>

#include "ingot/backends/cpp/types.h"
#include "ingot/base/error.h"

namespace ingot::backends::cpp {
namespace {

struct Text {
  std::string_view name, text;
};

// Each place goes where a search by halves finds it; no memory beside the result. NaN is the largest number.
constexpr std::string_view kBefore =
    "static inline bool before_$N($T a, $T b, bool descends) {\n  return descends ? (b < a || (a != a && b == b)) : (a "
    "< b "
    "|| (b != b && a == a));\n}\n";
constexpr std::string_view kBeforeWhole =
    "static inline bool before_$N($T a, $T b, bool descends) { return descends ? b < a : a < b; }\n";
constexpr std::string_view kSort =
    R"(static void sort_$N(const $S* x, int64_t* places, int64_t outer, int64_t n, int64_t inner, bool descends) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t q = 0; q < inner; ++q) {
      const $S* row = x + o * n * inner + q;
      int64_t* place = places + o * n * inner + q;
      for (int64_t i = 0; i < n; ++i) {
        int64_t low = 0, high = i;
        while (low < high) {
          const int64_t middle = (low + high) / 2;
          if (before_$N($L(row[i * inner]), $L(row[place[middle * inner] * inner]), descends)) high = middle;
          else low = middle + 1;
        }
        for (int64_t k = i; k > low; --k) place[k * inner] = place[(k - 1) * inner];
        place[low * inner] = i;
      }
    }
})";

// Four rows at a time, sixteen columns of them in registers; the compiler makes vectors of what fits its target.
constexpr std::string_view kTile = R"($A
static void tile_$N(int64_t rows, int64_t columns, int64_t k, const $T* a, int64_t a_row, int64_t a_column, const $T* b,
                    int64_t b_row, $T* c, int64_t c_row) {
  if (rows == 4 && columns == 16) {
    v16_$N s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t t = 0; t < k; ++t) {
      const $T* f = a + t * a_column;
      v16_$N v;
      memcpy(&v, b + t * b_row, sizeof v);
      s0 += f[0] * v;
      s1 += f[a_row] * v;
      s2 += f[2 * a_row] * v;
      s3 += f[3 * a_row] * v;
    }
    memcpy(c, &s0, sizeof s0);
    memcpy(c + c_row, &s1, sizeof s1);
    memcpy(c + 2 * c_row, &s2, sizeof s2);
    memcpy(c + 3 * c_row, &s3, sizeof s3);
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    $T sums[16] = {0};
    for (int64_t t = 0; t < k; ++t) {
      const $T factor = a[i * a_row + t * a_column];
      for (int64_t j = 0; j < columns; ++j) sums[j] += factor * b[t * b_row + j];
    }
    for (int64_t j = 0; j < columns; ++j) c[i * c_row + j] = sums[j];
  }
})";

constexpr std::string_view kProduct = R"($A
static void product_$N(int64_t m, int64_t n, int64_t k, const $T* a, int64_t a_row, int64_t a_column, const $T* b,
                       int64_t b_row, int64_t b_column, $T* c) {
  for (int64_t j = 0; j < n; j += 16) {
    const int64_t columns = n - j < 16 ? n - j : 16;
    if (b_column == 1) {
      for (int64_t i = 0; i < m; i += 4)
        tile_$N(m - i < 4 ? m - i : 4, columns, k, a + i * a_row, a_row, a_column, b + j, b_row, c + i * n + j, n);
      continue;
    }
    for (int64_t i = 0; i < m; ++i)
      for (int64_t q = 0; q < columns; ++q) {
        const $T *x = a + i * a_row, *y = b + (j + q) * b_column;
        $T sums[8] = {0};
        int64_t t = 0;
        if (a_column == 1 && b_row == 1)
          for (; t + 8 <= k; t += 8)
            for (int64_t r = 0; r < 8; ++r) sums[r] += x[t + r] * y[t + r];
        for (; t < k; ++t) sums[0] += x[t * a_column] * y[t * b_row];
        c[i * n + j + q] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
      }
  }
})";

// What sixteen windows see is gathered into a panel, which then meets all features.
constexpr std::string_view kConvolution = R"($A
static void convolution_$N(const $T* x, const $T* w, const $T* bias, $T* y, $T* panel, int rank, int64_t batch,
                           int64_t channels, int64_t features, int64_t group, const int64_t* in, const int64_t* out,
                           const int64_t* kernel, const int64_t* strides, const int64_t* dilations, const int64_t* pads) {
  const int64_t c = channels / group, m = features / group;
  int64_t plane = 1, places = 1, taps = 1;
  for (int d = 0; d < rank; ++d) {
    plane *= in[d];
    places *= out[d];
    taps *= kernel[d];
  }
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t g = 0; g < group; ++g) {
      const $T *from = x + (n * channels + g * c) * plane, *weights = w + g * m * c * taps;
      $T* to = y + (n * features + g * m) * places;
      for (int64_t p = 0; p < places; p += 16) {
        const int64_t columns = places - p < 16 ? places - p : 16;
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t j = 0; j < columns; ++j) {
            int64_t place = 0, scale = 1, o = p + j, k = tap;
            for (int d = rank - 1; d >= 0; --d) {
              const int64_t at = o % out[d] * strides[d] + k % kernel[d] * dilations[d] - pads[d];
              o /= out[d];
              k /= kernel[d];
              if (at < 0 || at >= in[d]) {
                place = -1;
                break;
              }
              place += at * scale;
              scale *= in[d];
            }
            for (int64_t q = 0; q < c; ++q) panel[(q * taps + tap) * 16 + j] = place < 0 ? 0 : from[q * plane + place];
          }
        for (int64_t i = 0; i < m; i += 4)
          tile_$N(m - i < 4 ? m - i : 4, columns, c * taps, weights + i * c * taps, c * taps, 1, panel, 16,
                  to + i * places + p, places);
      }
      for (int64_t i = 0; bias && i < m; ++i)
        for (int64_t p = 0; p < places; ++p) to[i * places + p] += bias[g * m + i];
    }
})";
// $T is the type of values, $S the one in memory, $N the suffix.
constexpr Text kOfIntegers[] = {
    {"add", "static inline $T add_$N($T a, $T b) { return ($T)((uint64_t)a + (uint64_t)b); }"},
    {"sub", "static inline $T sub_$N($T a, $T b) { return ($T)((uint64_t)a - (uint64_t)b); }"},
    {"mul", "static inline $T mul_$N($T a, $T b) { return ($T)((uint64_t)a * (uint64_t)b); }"},
    {"div",
     "static inline $T div_$N($T a, $T b) {\n  if (b == 0) return 0;\n  if (b == ($T)-1 && ($T)-1 < ($T)1) return "
     "($T)(0 - (uint64_t)a);\n  return ($T)(a / b);\n}"},
    {"remainder",
     "static inline $T remainder_$N($T a, $T b) {\n  if (b == 0 || b == ($T)-1) return ($T)-1 < ($T)1 || b == 0 ? 0 : "
     "($T)(a % b);\n  return ($T)(a % b);\n}"},
    {"modulo",
     "static inline $T modulo_$N($T a, $T b) {\n  $T r;\n  if (b == 0 || (b == ($T)-1 && ($T)-1 < ($T)1)) return 0;\n  "
     "r = "
     "($T)(a % b);\n  return r != 0 && (r < ($T)1) != (b < ($T)1) ? ($T)(r + b) : r;\n}"},
    {"min", "static inline $T min_$N($T a, $T b) { return a < b ? a : b; }"},
    {"max", "static inline $T max_$N($T a, $T b) { return a < b ? b : a; }"},
    {"neg", "static inline $T neg_$N($T a) { return ($T)(0 - (uint64_t)a); }"},
    {"abs", "static inline $T abs_$N($T a) { return a < ($T)1 ? ($T)(0 - (uint64_t)a) : a; }"},
    {"sign", "static inline $T sign_$N($T a) { return ($T)(a == 0 ? 0 : a < ($T)1 ? -1 : 1); }"},
    {"shift_left",
     "static inline $T shift_left_$N($T a, $T b) {\n  return (uint64_t)b >= sizeof($T) * 8 ? ($T)0 : "
     "($T)((uint64_t)a << b);\n}"},
    {"shift_right",
     "static inline $T shift_right_$N($T a, $T b) { return (uint64_t)b >= sizeof($T) * 8 ? ($T)0 : ($T)(a >> b); }"},
    // What lies outside goes to the nearest end, NaN to 0.
    {"whole",
     "static inline $T whole_$N(double x) {\n  if (!(x == x)) return 0;\n  if (x <= $LOW) return $MIN;\n  if (x >= "
     "$HIGH) "
     "return $MAX;\n  return ($T)x;\n}"},
};

constexpr Text kOfFloats[] = {
    {"modulo",
     "static inline $T modulo_$N($T a, $T b) {\n  const $T r = fmod$F(a, b);\n  return r != 0 && (r < 0) != (b < 0) ? "
     "r + "
     "b : r;\n}"},
    {"min", "static inline $T min_$N($T a, $T b) { return a < b || a != a ? a : b; }"},
    {"max", "static inline $T max_$N($T a, $T b) { return a > b || a != a ? a : b; }"},
    {"at_least", "static inline $T at_least_$N($T x, $T low) { return x < low ? low : x; }"},
    {"at_most", "static inline $T at_most_$N($T x, $T high) { return x > high ? high : x; }"},
    {"sign", "static inline $T sign_$N($T x) { return x > 0 ? 1 : x < 0 ? -1 : x; }"},
    {"sigmoid",
     "static inline $T sigmoid_$N($T x) {\n  const $T e = exp$F(-fabs$F(x));\n  return x < 0 ? e / (1 + e) : 1 / (1 + "
     "e);\n}"},
};

constexpr Text kPlain[] = {
    {"floor_div",
     "static inline int64_t floor_div(int64_t a, int64_t b) {\n  return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != "
     "(b < "
     "0) ? 1 : 0);\n}"},
    {"floor_mod",
     "static inline int64_t floor_mod(int64_t a, int64_t b) {\n  const int64_t r = b == 0 ? 0 : a % b;\n  return r != "
     "0 && "
     "(r < 0) != (b < 0) ? r + b : r;\n}"},
    // Where an index leads in an axis of n elements: never outside.
    {"place",
     "static inline int64_t place(int64_t i, int64_t n) {\n  if (i < 0) i += n;\n  return i < 0 ? 0 : i >= n ? (n > 0 "
     "? n - 1 "
     ": 0) : i;\n}"},
    // The bits of a small float nearest to x, halves to even. `special`: 0 has infinity and NaN, 1 NaN only, 2 NaN as
    // the negative zero, 3 neither.
    {"encode",
     R"(static inline uint32_t encode(double x, int exponent_bits, int mantissa_bits, int bias, int special, bool saturates) {
  const uint32_t sign_bit = 1u << (exponent_bits + mantissa_bits);
  const uint32_t all = sign_bit - 1, top = special == 0 ? all - (1u << mantissa_bits) : special == 1 ? all - 1 : all;
  const uint32_t sign = signbit(x) ? sign_bit : 0;
  const uint32_t none = special == 0 ? sign | (top + 1) | (1u << (mantissa_bits - 1)) : special == 1 ? sign | all : sign_bit;
  const uint32_t too_large = saturates || special == 3 ? sign | top : special == 0 ? sign | (top + 1) : none;
  double magnitude = fabs(x), scaled;
  uint32_t pattern;
  int exponent;
  if (x != x) return none;
  if (magnitude > 1e300) return too_large;
  if (magnitude == 0) return special == 2 ? 0 : sign;
  (void)frexp(magnitude, &exponent);
  exponent -= 1;
  if (exponent < 1 - bias) exponent = 1 - bias;
  scaled = nearbyint(ldexp(magnitude, mantissa_bits - exponent));
  if (exponent + bias > (1 << exponent_bits) + 1) return too_large;
  pattern = ((uint32_t)(exponent + bias - 1) << mantissa_bits) + (uint32_t)scaled;
  if (pattern > top) return too_large;
  if (pattern == 0 && special == 2) return 0;
  return sign | pattern;
})"},
    {"decode",
     R"(static inline float decode(uint32_t bits, int exponent_bits, int mantissa_bits, int bias, int special) {
  const uint32_t sign_bit = 1u << (exponent_bits + mantissa_bits);
  const uint32_t all = sign_bit - 1, top = special == 0 ? all - (1u << mantissa_bits) : special == 1 ? all - 1 : all;
  const uint32_t magnitude = bits & all, mantissa = magnitude & ((1u << mantissa_bits) - 1);
  const int exponent = (int)(magnitude >> mantissa_bits);
  float x;
  if (special == 2 && bits == sign_bit) return NAN;
  if (magnitude > top) return special == 0 && mantissa == 0 ? (bits & sign_bit ? -INFINITY : INFINITY) : NAN;
  x = exponent == 0 ? (float)ldexp((double)mantissa, 1 - bias - mantissa_bits)
                    : (float)ldexp((double)(mantissa | (1u << mantissa_bits)), exponent - bias - mantissa_bits);
  return bits & sign_bit ? -x : x;
})"},
    {"load_f8e8m0",
     "static inline float load_f8e8m0(uint8_t bits) { return bits == 255 ? NAN : (float)ldexp(1.0, (int)bits - 127); "
     "}"},
    {"store_f8e8m0",
     R"(static inline uint8_t store_f8e8m0(double x, int how) {
  int exponent;
  double fraction;
  x = fabs(x);
  if (!(x < INFINITY)) return 255;
  if (x == 0) return 0;
  fraction = frexp(x, &exponent) * 2;
  exponent -= 1;
  if (fraction > 1 && (how & 4 ? fraction >= 1.5 : !(how & 2))) exponent += 1;
  if (exponent < -127) return 0;
  if (exponent > 127) return how & 1 ? 255 : 254;
  return (uint8_t)(exponent + 127);
})"},
};

/// Exponent and mantissa bits, bias, meaning of the topmost patterns.
const char* format_of(DType type) {
  switch (type) {
    case DType::f16:
      return "5, 10, 15, 0";
    case DType::bf16:
      return "8, 7, 127, 0";
    case DType::f8e4m3fn:
      return "4, 3, 7, 1";
    case DType::f8e4m3fnuz:
      return "4, 3, 8, 2";
    case DType::f8e5m2:
      return "5, 2, 15, 0";
    case DType::f8e5m2fnuz:
      return "5, 2, 16, 2";
    default:
      return "2, 1, 1, 3";
  }
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string for_type(std::string_view text, DType type) {
  const CType c = c_type(type);
  const std::string name = c.suffix;
  std::string low = "0", min = "0", high = "255", max = "255";
  if (name == "i8") low = min = "-128", high = max = "127";
  if (name == "i16") low = min = "-32768", high = max = "32767";
  if (name == "u16") high = max = "65535";
  if (name == "i32") low = "-2147483648.0", min = "INT32_MIN", high = "2147483647.0", max = "INT32_MAX";
  if (name == "u32") high = "4294967295.0", max = "UINT32_MAX";
  if (name == "i64")
    low = "-9223372036854775808.0", min = "INT64_MIN", high = "9223372036854775808.0", max = "INT64_MAX";
  if (name == "u64") high = "18446744073709551616.0", max = "UINT64_MAX";
  std::string result = replaced(std::string(text), "$LOW", low);
  result = replaced(replaced(replaced(result, "$MIN", min), "$HIGH", high), "$MAX", max);
  result = replaced(replaced(replaced(result, "$T", c.value), "$S", c.storage), "$N", c.suffix);
  return replaced(result, "$F", type == DType::f64 ? "" : "f");
}

}  // namespace

void Support::add(const std::string& name, std::string text) {
  known_.emplace(name, texts_.size());
  texts_.push_back(std::move(text));
}

std::string Support::use(std::string_view name) {
  const std::string key(name);
  if (known_.contains(key)) return key;
  for (const Text& t : kPlain)
    if (t.name == name) {
      add(key, std::string(t.text));
      return key;
    }
  throw Error(Code::internal, "no text for function " + key);
}

std::string Support::use(std::string_view base, DType type) {
  const CType c = c_type(type);
  const std::string name = std::string(base) + "_" + c.suffix;
  if (known_.contains(name)) return name;
  if (type == DType::f8e8m0) return use(name);
  if (base == "load") {
    use("decode");
    add(name, fmt::format("static inline float {}({} bits) {{ return decode(bits, {}); }}", name, c.storage,
                          format_of(type)));
    return name;
  }
  if (base == "tile" || base == "product" || base == "convolution") {
    if (base != "tile") use("tile", type);
    std::string text(base == "tile" ? kTile : base == "product" ? kProduct : kConvolution);
    if (base == "tile")
      text = fmt::format("typedef {0} v16_{1} __attribute__((vector_size(16 * sizeof({0}))));\n", c.value, c.suffix) +
             text;
    add(name, replaced(for_type(text, type), "$A\n", attribute_));
    return name;
  }
  if (base == "sort") {
    const std::string load = is_small_float(type) ? use("load", type) : "";
    add(name, replaced(for_type(std::string(is_float(type) ? kBefore : kBeforeWhole) + std::string(kSort), type), "$L",
                       load));
    return name;
  }
  if (base == "store") {
    use("encode");
    add(name, fmt::format("static inline {} {}(double x, int how) {{ return ({})encode(x, {}, {}); }}", c.storage, name,
                          c.storage, format_of(type), bits_of(type) == 16 ? "how < 0" : "!(how & 1)"));
    return name;
  }
  const auto find = [&](std::span<const Text> table) {
    for (const Text& t : table)
      if (t.name == base) {
        add(name, for_type(t.text, type));
        return true;
      }
    return false;
  };
  if (is_float(type) ? find(kOfFloats) : find(kOfIntegers)) return name;
  throw Error(Code::internal, "no text for function " + name);
}

std::string Support::use(std::string_view base, DType from, DType to) {
  const CType a = c_type(from), b = c_type(to);
  const std::string name = fmt::format("{}_{}_{}", base, a.suffix, b.suffix);
  if (known_.contains(name)) return name;
  if (base == "pow") {  // whole numbers, exactly; a negative exponent leaves only 1 and -1
    add(name,
        fmt::format(
            "static inline {0} {1}({0} x, {2} n) {{\n  uint64_t y = 1, base = (uint64_t)x;\n  if (n < ({2})1 && n != "
            "0) "
            "return ({0})(x == 1 ? 1 : x == ({0})-1 ? (n % 2 ? -1 : 1) : 0);\n  while (n > 0) {{\n    if (n % 2) y *= "
            "base;\n    base *= base;\n    n = ({2})(n / 2);\n  }}\n  return ({0})y;\n}}",
            a.value, name, b.value));
    return name;
  }
  if (base == "bits") {
    const std::string store = is_small_float(from) ? fmt::format("({}){}(x, 1)", a.storage, use("store", from)) : "x";
    const std::string load = is_small_float(to) ? fmt::format("{}(y)", use("load", to)) : "y";
    add(name,
        fmt::format("static inline {} {}({} x) {{\n  const {} s = {};\n  {} y;\n  memcpy(&y, &s, sizeof y);\n  return "
                    "{};\n}}",
                    b.value, name, a.value, a.storage, store, b.storage, load));
    return name;
  }
  throw Error(Code::internal, "no text for function " + name);
}

std::string Support::text() const {
  std::string text;
  for (const std::string& t : texts_) text += t + "\n";
  return text;
}

}  // namespace ingot::backends::cpp
