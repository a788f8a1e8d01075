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

// NaN is the largest number.
constexpr std::string_view kBefore =
    "static inline bool before_$N($T a, $T b, bool descends) {\n  return descends ? (b < a || (a != a && b == b)) : (a "
    "< b "
    "|| (b != b && a == a));\n}\n";
constexpr std::string_view kBeforeWhole =
    "static inline bool before_$N($T a, $T b, bool descends) { return descends ? b < a : a < b; }\n";
// A heap of places, the last one on top; equal numbers are in the order of their places. No memory beside the result.
constexpr std::string_view kSort =
    R"(static inline bool goes_before_$N(const $S* row, int64_t inner, int64_t a, int64_t b, bool descends) {
  const $T x = $L(row[a * inner]), y = $L(row[b * inner]);
  if (before_$N(x, y, descends)) return true;
  return !before_$N(y, x, descends) && a < b;
}

static void sink_$N(const $S* row, int64_t* place, int64_t inner, int64_t at, int64_t n, bool descends) {
  const int64_t held = place[at * inner];
  for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && goes_before_$N(row, inner, place[child * inner], place[(child + 1) * inner], descends)) ++child;
    if (!goes_before_$N(row, inner, held, place[child * inner], descends)) break;
    place[at * inner] = place[child * inner];
    at = child;
  }
  place[at * inner] = held;
}

static void sort_$N(const $S* x, int64_t* places, int64_t outer, int64_t n, int64_t inner, bool descends) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t q = 0; q < inner; ++q) {
      const $S* row = x + o * n * inner + q;
      int64_t* place = places + o * n * inner + q;
      for (int64_t i = 0; i < n; ++i) place[i * inner] = i;
      for (int64_t i = n / 2; i-- > 0;) sink_$N(row, place, inner, i, n, descends);
      for (int64_t i = n - 1; i > 0; --i) {
        const int64_t last = place[0];
        place[0] = place[i * inner];
        place[i * inner] = last;
        sink_$N(row, place, inner, 0, i, descends);
      }
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
    // The same for types whose ends are numbers of double, without branches: compilers make vectors of it.
    {"narrow",
     "static inline $T whole_$N(double x) {\n  const double a = x == x ? x : 0, b = a < $LOW ? $LOW : a;\n  return "
     "($T)($W)(b > $HIGH ? $HIGH : b);\n}"},
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

// Without branches and calls, so that loops over them become vectors.
constexpr Text kOfSingles[] = {
    // e^x = 2^n e^r: n from the bits of a sum so large that it has no digits after the point; the scale in two factors,
    // as
    // one alone would overflow or could not make subnormal numbers.
    {"exp", R"(static inline float exp_f32(float x) {
  const float shift = 12582912.0f, c = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
  const float shifted = c * 1.44269504f + shift, n = shifted - shift;
  const float r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
  const float p = (((1.3814539e-3f * r + 8.368745e-3f) * r + 4.166839e-2f) * r + 1.6666521e-1f) * r + 4.9999994e-1f;
  const float e = (p * (r * r) + r) + 1.0f;
  uint32_t bits, low;
  float a, b;
  memcpy(&bits, &shifted, sizeof bits);
  bits -= 0x4B400000u;
  low = (uint32_t)((int32_t)bits >> 1);
  bits = (bits - low + 127u) << 23;
  low = (low + 127u) << 23;
  memcpy(&a, &low, sizeof a);
  memcpy(&b, &bits, sizeof b);
  return e * a * b;
})"},
    {"sigmoid", "static inline float sigmoid_f32(float x) { return 1.0f / (1.0f + exp_f32(-x)); }"},
    {"tanh", R"(static inline float tanh_f32(float x) {
  const float c = x < -8.10417175f ? -8.10417175f : x > 8.10417175f ? 8.10417175f : x, s = c * c;
  const float p = (((1.490330170e-8f * s + 2.168325227e-5f) * s + 3.559531411e-3f) * s + 1.343454123e-1f) * s + 1.0f;
  const float q = (((8.396449402e-7f * s + 3.391054343e-4f) * s + 2.611918934e-2f) * s + 4.676786959e-1f) * s + 1.0f;
  return c * p / q;
})"},
    {"erf", R"(static inline float erf_f32(float x) {
  const float c = x < -4.0f ? -4.0f : x > 4.0f ? 4.0f : x, s = c * c;
  const float p = (((((-2.72614225801306e-10f * s + 2.77068142495902e-08f) * s - 2.10102402082508e-06f) * s -
                     5.69250639462346e-05f) * s - 7.34990630326855e-04f) * s - 2.95459980854025e-03f) * s - 1.60960333262415e-02f;
  const float q = (((-1.45660718464996e-05f * s - 2.13374055278905e-04f) * s - 1.68282697438203e-03f) * s -
                   7.37332916720468e-03f) * s - 1.42647390514189e-02f;
  return c * p / q;
})"},
};

// The exponent's bias is put right by a product, which also makes subnormal numbers.
constexpr std::string_view kLoadHalf = R"(static inline float load_f16(uint16_t h) {
  const uint32_t rest = (uint32_t)(h & 0x7fffu) << 13, sign = (uint32_t)(h & 0x8000u) << 16;
  uint32_t bits = rest;
  float x;
  memcpy(&x, &bits, sizeof x);
  x *= 5.192296858534828e33f;
  memcpy(&bits, &x, sizeof bits);
  bits = (rest >= 0x0f800000u ? rest | 0x7f800000u : bits) | sign;
  memcpy(&x, &bits, sizeof x);
  return x;
})";

constexpr Text kPlain[] = {
    {"floor_div",
     "static inline int64_t floor_div(int64_t a, int64_t b) {\n  return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != "
     "(b < "
     "0) ? 1 : 0);\n}"},
    {"floor_mod",
     "static inline int64_t floor_mod(int64_t a, int64_t b) {\n  const int64_t r = b == 0 ? 0 : a % b;\n  return r != "
     "0 && "
     "(r < 0) != (b < 0) ? r + b : r;\n}"},
    // The product of two sizes, or -1: one is negative, or no memory is so large.
    {"size_times",
     "static inline int64_t size_times(int64_t a, int64_t b) {\n  return a < 0 || b < 0 || (b > 0 && a > INT64_MAX / "
     "16 "
     "/ b) ? -1 : a * b;\n}"},
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
  result = replaced(result, "$W", name == "u32" ? "int64_t" : "int32_t");
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

bool Support::add_matrix_function(std::string_view base, DType type) {
  const std::string text = matrix_text(base, target_, type);
  if (text.empty()) return false;
  std::string_view needs = matrix_needs(base);
  while (!needs.empty()) {
    use(needs.substr(0, needs.find(' ')), type);
    needs.remove_prefix(std::min(needs.find(' '), needs.size() - 1) + 1);
  }
  add(fmt::format("{}_{}", base, c_type(type).suffix), for_type(text, type));
  return true;
}

std::string Support::use(std::string_view base, DType type) {
  const CType c = c_type(type);
  const std::string name = std::string(base) + "_" + c.suffix;
  if (known_.contains(name)) return name;
  if (type == DType::f8e8m0) return use(name);
  if (base == "load" && type == DType::f16) {
    add(name, std::string(kLoadHalf));
    return name;
  }
  if (base == "load") {
    use("decode");
    add(name, fmt::format("static inline float {}({} bits) {{ return decode(bits, {}); }}", name, c.storage,
                          format_of(type)));
    return name;
  }
  if (add_matrix_function(base, type)) return name;
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
    const bool is_narrow = base == "whole" && bits_of(type) <= 32;
    for (const Text& t : table)
      if (t.name == (is_narrow ? "narrow" : base)) {
        add(name, for_type(t.text, type));
        return true;
      }
    return false;
  };
  if (type == DType::f32 && base == "sigmoid") use("exp", type);
  if (type == DType::f32 && find(kOfSingles)) return name;
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
