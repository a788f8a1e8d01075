// What lets a user see that the generated code is right where it is compiled.
#include "ingot/backends/cpp/test_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ingot::backends::cpp {
namespace {

// Of test data: how elements are compared.
enum Kind : std::int64_t { kExact, kFloat, kDouble, kHalf, kBrainHalf, kSignedByte, kByte };

constexpr std::string_view kReading = R"(
static int64_t take(FILE* file) {
  int64_t number = 0;
  if (fread(&number, sizeof(number), 1, file) != 1) {
    fprintf(stderr, "the file of test data is too short\n");
    exit(2);
  }
  return number;
}

// A tensor of the file: how it is compared, how far it may be off in millionths, its dimensions, its elements.
typedef struct {
  int64_t kind, bound, rank, count, bytes;
  int64_t dims[64];
  unsigned char* data;
} stored_t;

static stored_t take_tensor(FILE* file) {
  stored_t t;
  t.kind = take(file);
  t.bound = take(file);
  t.rank = take(file);
  t.count = 1;
  for (int64_t i = 0; i < 64; ++i) t.dims[i] = 0;
  if (t.rank < 0 || t.rank > 64) exit(2);
  for (int64_t i = 0; i < t.rank; ++i) t.count *= t.dims[i] = take(file);
  t.bytes = take(file);
  t.data = (unsigned char*)malloc(t.bytes > 0 ? (size_t)t.bytes : 1);
  if (!t.data || (t.bytes > 0 && fread(t.data, 1, (size_t)t.bytes, file) != (size_t)t.bytes)) exit(2);
  return t;
}

static double number_of(const unsigned char* data, int64_t kind, int64_t i) {
  if (kind == 1) {
    float x;
    memcpy(&x, data + 4 * i, 4);
    return (double)x;
  }
  if (kind == 2) {
    double x;
    memcpy(&x, data + 8 * i, 8);
    return x;
  }
  if (kind == 5) return (double)(signed char)data[i];
  if (kind == 6) return (double)data[i];
  uint16_t bits;
  memcpy(&bits, data + 2 * i, 2);
  if (kind == 4) {
    const uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, 4);
    return (double)x;
  }
  const int power = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (power == 31) return fraction ? (double)NAN : sign * (double)INFINITY;
  return sign * (power ? ldexp(1024 + fraction, power - 25) : ldexp(fraction, -24));
}

// How far apart the results are, as part of the largest expected number; less than 0: they cannot be compared.
static double difference(const stored_t* expected, const unsigned char* got) {
  double most = 0, scale = 0;
  if (expected->kind == 0) return memcmp(expected->data, got, (size_t)expected->bytes) == 0 ? 0 : 1;
  for (int64_t i = 0; i < expected->count; ++i) {
    const double a = number_of(expected->data, expected->kind, i), b = number_of(got, expected->kind, i);
    if ((isnan(a) && isnan(b)) || (isinf(a) && isinf(b) && (a < 0) == (b < 0))) continue;
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b)) return 1;
    if (fabs(a) > scale) scale = fabs(a);
    // Integers that a model rounds to: the next one is as near.
    if (expected->kind >= 5 && expected->bound > 0 && fabs(a - b) <= 1) continue;
    if (fabs(a - b) > most) most = fabs(a - b);
  }
  return scale > 0 ? most / scale : most;
}
)";

// {0}: the name, {1}: what comes before the call, {2}: inputs, {3}: outputs, at least one each in arrays.
constexpr std::string_view kMain = R"(
int main(int argc, char** argv) {{
  const char* path = argc > 1 ? argv[1] : "{0}_test.bin";
  FILE* file = fopen(path, "rb");
  if (!file) {{
    fprintf(stderr, "%s cannot be read\n", path);
    return 2;
  }}
  static stored_t inputs[{4}], outputs[{5}];
  const void* in[{4}] = {{0}};
  const int64_t* in_dims[{4}] = {{0}};
  const void* out[{5}] = {{0}};
  static int64_t shapes[{5}][64];
  int64_t* out_dims[{5}];
  int failed = 0;
  for (int i = 0; i < {2}; ++i) {{
    inputs[i] = take_tensor(file);
    in[i] = inputs[i].data;
    in_dims[i] = inputs[i].dims;
  }}
  for (int i = 0; i < {3}; ++i) outputs[i] = take_tensor(file);
  for (int i = 0; i < {5}; ++i) out_dims[i] = shapes[i];
  fclose(file);
  const clock_t busy_from = clock();
  const double began = milliseconds();
{1}  const int problem = call(in, in_dims, out, out_dims);
  const double first = milliseconds() - began, first_busy = 1e3 * (double)(clock() - busy_from) / (double)CLOCKS_PER_SEC;
  if (problem != 0) {{
    fprintf(stderr, "%s\n", problem == 2 ? "sizes do not fit each other" : "there is no memory to run in");
    return 2;
  }}
  for (int i = 0; i < {3}; ++i) {{
    double apart = 1;
    if (memcmp(shapes[i], outputs[i].dims, (size_t)outputs[i].rank * sizeof(int64_t)) == 0)
      apart = difference(&outputs[i], (const unsigned char*)out[i]);
    else
      fprintf(stderr, "output %d has another shape\n", i);
    const int is_right = apart <= (double)outputs[i].bound * 1e-6;
    printf("output %d: %s, %.3g of the largest number apart\n", i, is_right ? "right" : "WRONG", apart);
    failed += !is_right;
  }}
  const long wanted = argc > 2 ? atol(argv[2]) : 0;
  if (wanted > 0) {{
    // Short runs are timed several at once: clocks are coarse.
    const double probe = milliseconds();
    call(in, in_dims, out, out_dims);
    const double short_by = 1 / (milliseconds() - probe + 1e-3);
    const long each = short_by < 2 ? 1 : short_by < (double)wanted ? (long)short_by : wanted, groups = wanted / each;
    double least = 0, all = 0, least_busy = 0;
    for (long i = 0; i < groups; ++i) {{
      const clock_t begin = clock();
      const double start = milliseconds();
      for (long k = 0; k < each; ++k) call(in, in_dims, out, out_dims);
      const double took = (milliseconds() - start) / (double)each;
      const double busy = 1e3 * (double)(clock() - begin) / (double)CLOCKS_PER_SEC / (double)each;
      all += took;
      if (i == 0 || took < least) least = took;
      if (i == 0 || busy < least_busy) least_busy = busy;
    }}
    printf("%ld runs: %.4g ms at least, %.4g ms on average, %.4g ms of processor time at least; ", groups * each, least,
           all / (double)groups, least_busy);
    printf("first result after %.4g ms, %.4g ms of processor time\n", first, first_busy);
  }}
  return failed ? 1 : 0;
}}
)";

constexpr std::string_view kClock = R"(
static double milliseconds(void) { return 1e3 * (double)clock() / (double)CLOCKS_PER_SEC; }
)";
constexpr std::string_view kSteadyClock = R"(
static double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
)";

Kind kind_of(DType type) {
  switch (type) {
    case DType::f32:
      return kFloat;
    case DType::f64:
      return kDouble;
    case DType::f16:
      return kHalf;
    case DType::bf16:
      return kBrainHalf;
    case DType::i8:
      return kSignedByte;
    case DType::u8:
      return kByte;
    default:
      return kExact;
  }
}

/// In millionths of the largest number. What rounds coarsely inside may round the other way.
std::int64_t bound_of(Kind kind, bool rounds_coarsely) {
  switch (kind) {
    case kExact:
      return 0;
    case kSignedByte:
    case kByte:
      return rounds_coarsely ? 30'000 : 0;
    case kDouble:
      return rounds_coarsely ? 30'000 : 1;
    case kHalf:
      return 20'000;
    case kBrainHalf:
      return 100'000;
    default:
      return rounds_coarsely ? 30'000 : 100;
  }
}

/// The same of a step, of floats; a little more, as it was rounded too.
std::int64_t one_step(const Array& a, double step) {
  if (a.dtype() != DType::f32 || step <= 0) return 0;
  double largest = 0;
  for (const float x : a.data<float>())
    if (std::isfinite(x)) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return largest > 0 ? static_cast<std::int64_t>(std::min(1.001e6 * step / largest, 1e6)) : 0;
}

void append(std::string& bytes, std::int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

}  // namespace

std::string test_source(const std::string& name, bool is_c, const std::string& entry, const std::string& load,
                        std::size_t inputs, std::size_t outputs) {
  std::string text = fmt::format(
      "// Made by ingot compile: runs the code on stored inputs and compares its results with stored ones.\n"
      "#include \"{}.h\"\n\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{}\n",
      name, is_c ? "#include <time.h>" : "#include <time.h>\n\n#include <chrono>");
  text += entry;
  text += is_c ? kClock : kSteadyClock;
  text += kReading;
  text += fmt::format(kMain, name, load, inputs, outputs, std::max<std::size_t>(inputs, 1),
                      std::max<std::size_t>(outputs, 1));
  return text;
}

std::string cmake_file(const std::string& name, const Options& options) {
  const char* language = options.is_c ? "C" : "CXX";
  const char* ending = options.is_c ? "c" : "cpp";
  std::string text = fmt::format(
      "# Made by ingot compile. In a CMakeLists.txt: include({0}.cmake), then target_link_libraries(yours {0}).\n"
      "enable_language({1})\n"
      "add_library({0} STATIC ${{CMAKE_CURRENT_LIST_DIR}}/{0}.{2})\n"
      "target_include_directories({0} PUBLIC ${{CMAKE_CURRENT_LIST_DIR}})\n"
      "target_compile_features({0} PUBLIC {3})\n"
      "if(UNIX)\n  target_link_libraries({0} PUBLIC m)\nendif()\n{4}"
      "add_executable({0}_test ${{CMAKE_CURRENT_LIST_DIR}}/{0}_test.{2})\n"
      "target_link_libraries({0}_test {0})\n"
      "add_test(NAME {0}_test COMMAND {0}_test WORKING_DIRECTORY ${{CMAKE_CURRENT_LIST_DIR}})\n",
      name, language, ending, options.is_c ? "c_std_99" : "cxx_std_17",
      options.has_threads
          ? fmt::format("find_package(Threads REQUIRED)\ntarget_link_libraries({} PUBLIC Threads::Threads)\n", name)
          : "");
  return text;
}

std::vector<Array> as_passed(const std::vector<Array>& arrays) {
  std::vector<Array> passed;
  for (const Array& a : arrays) {
    if (a.dtype() != DType::string) {
      passed.push_back(a);
      continue;
    }
    std::string bytes;
    Array ends(DType::i64, a.dims());
    std::size_t i = 0;
    for (const std::string& s : a.data<std::string>()) {
      bytes += s;
      ends.mutable_data<std::int64_t>()[i++] = std::ssize(bytes);
    }
    Array all(DType::u8, {std::ssize(bytes)});
    std::ranges::copy(bytes, all.mutable_data<std::uint8_t>().begin());
    passed.push_back(std::move(all));
    passed.push_back(std::move(ends));
  }
  return passed;
}

std::string test_data(const std::vector<Array>& inputs, const std::vector<Array>& outputs, bool rounds_coarsely,
                      const std::vector<double>& steps) {
  std::string bytes;
  const auto add = [&](const Array& passed, double step) {
    for (const Array& a : as_passed({passed})) {
      append(bytes, kind_of(a.dtype()));
      append(bytes, std::max(bound_of(kind_of(a.dtype()), rounds_coarsely), one_step(a, step)));
      append(bytes, a.rank());
      for (const std::int64_t d : a.dims()) append(bytes, d);
      append(bytes, static_cast<std::int64_t>(a.byte_size()));
      bytes.append(reinterpret_cast<const char*>(a.bytes()), a.byte_size());
    }
  };
  for (const Array& a : inputs) add(a, 0);
  for (std::size_t i = 0; i < outputs.size(); ++i) add(outputs[i], i < steps.size() ? steps[i] : 0);
  return bytes;
}

}  // namespace ingot::backends::cpp
