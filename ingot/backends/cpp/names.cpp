// Names of a model, which are anybody's, as harmless words of a program.
#include "ingot/backends/cpp/names.h"

#include <algorithm>

namespace ingot::backends::cpp {
namespace {

// Words of C and C++.
constexpr std::string_view kLanguage[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
};
// What the standard library declares for all, as far as code or the name of a namespace may meet it.
constexpr std::string_view kLibrary[] = {
    "abort",    "abs",       "access",   "acos",      "acosf",    "acosh",     "acoshf",     "alarm",    "alloca",
    "asin",     "asinf",     "asinh",    "asinhf",    "assert",   "atan",      "atanf",      "atanh",    "atanhf",
    "atof",     "atoi",      "atol",     "brk",       "bsearch",  "calloc",    "cbrt",       "ceil",     "ceilf",
    "chown",    "clock",     "close",    "copysign",  "cos",      "cosf",      "cosh",       "coshf",    "creat",
    "crypt",    "daemon",    "div",      "dup",       "dup2",     "erf",       "errno",      "exit",     "exp",
    "exp2",     "expm1",     "fabs",     "fabsf",     "fclose",   "fdim",      "feof",       "ferror",   "fflush",
    "fgets",    "flock",     "floor",    "floorf",    "fma",      "fmax",      "fmin",       "fmod",     "fmodf",
    "fopen",    "fork",      "fprintf",  "fputs",     "fread",    "free",      "frexp",      "fseek",    "fstat",
    "ftell",    "fwrite",    "gamma",    "getc",      "getchar",  "getenv",    "gets",       "hypot",    "ilogb",
    "index",    "int16_t",   "int32_t",  "int64_t",   "int8_t",   "iovec",     "isinf",      "isnan",    "j0",
    "j1",       "jn",        "labs",     "ldexp",     "ldiv",     "lgamma",    "link",       "linux",    "log",
    "log10",    "log1p",     "log1pf",   "log2",      "logb",     "logf",      "lrint",      "lround",   "lseek",
    "main",     "malloc",    "memchr",   "memcmp",    "memcpy",   "memmem",    "memmove",    "memset",   "mktemp",
    "mmap",     "modf",      "msync",    "munmap",    "nan",      "nearbyint", "nearbyintf", "nice",     "offsetof",
    "open",     "pause",     "perror",   "pipe",      "popen",    "pow",       "powf",       "pread",    "printf",
    "profil",   "ptrdiff_t", "putc",     "putchar",   "putenv",   "puts",      "pwrite",     "qsort",    "rand",
    "random",   "read",      "realloc",  "remainder", "remove",   "rename",    "revoke",     "rewind",   "rindex",
    "rint",     "round",     "scalb",    "scanf",     "select",   "setenv",    "signal",     "signbit",  "sin",
    "sincos",   "sinf",      "sinh",     "sinhf",     "size_t",   "sleep",     "snprintf",   "splice",   "sprintf",
    "sqrt",     "sqrtf",     "srand",    "sscanf",    "st_atime", "st_ctime",  "st_mtime",   "stat",     "statx",
    "std",      "stderr",    "stdin",    "stdout",    "strcat",   "strchr",    "strcmp",     "strcpy",   "strcspn",
    "strdup",   "strdupa",   "strerror", "strlen",    "strncat",  "strncmp",   "strncpy",    "strndupa", "strpbrk",
    "strrchr",  "strsep",    "strspn",   "strstr",    "strtod",   "strtof",    "strtok",     "strtol",   "swab",
    "symlink",  "sync",      "syscall",  "system",    "tan",      "tanf",      "tanh",       "tee",      "tempnam",
    "tgamma",   "tgammaf",   "time",     "tmpfile",   "tmpnam",   "trunc",     "truncate",   "truncf",   "uint16_t",
    "uint32_t", "uint64_t",  "uint8_t",  "umask",     "ungetc",   "unix",      "unlink",     "wait",     "write",
    "y0",       "y1",        "yn",
};
// What generated code calls things; names of the form of t12, step_3 and exp_f32 are asked for below.
constexpr std::string_view kOwn[] = {
    "arena",        "arena_bytes", "base", "decode",  "dilations",   "encode",      "floor_div",
    "floor_mod",    "for_all",     "g",    "i",       "in",          "job",         "kernel",
    "load_weights", "on_step",     "out",  "pads",    "place",       "pool",        "r",
    "range",        "release",     "room", "run",     "set_threads", "set_weights", "size_times",
    "strides",      "sum",         "sums", "weights", "workspace",   "workspace_t",
};
static_assert(std::ranges::is_sorted(kLanguage) && std::ranges::is_sorted(kLibrary) && std::ranges::is_sorted(kOwn),
              "keep the words sorted");

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::size_t kLongest = 60;

/// Buffers, loops, sizes, parts of expressions, weights: t12, i3, v4, w5; functions: step_6.
bool is_numbered(std::string_view word) {
  const std::size_t letters = word.starts_with("step_") ? 5 : 1;
  return word.size() > letters && (letters > 1 || std::string_view("tivw").find(word[0]) != std::string_view::npos) &&
         std::ranges::all_of(word.substr(letters), is_digit);
}

/// Functions for one type: exp_f32, load_bf16, neg_bool.
bool is_typed(std::string_view word) {
  const std::size_t last = word.rfind('_');
  if (last == std::string_view::npos) return false;
  const std::string_view type = word.substr(last + 1);
  const std::size_t letters = type.starts_with("bf") ? 2 : 1;
  return type == "bool" || (type.size() > letters && is_digit(type[letters]) &&
                            std::string_view("bfiu").find(type[0]) != std::string_view::npos);
}

/// EOF, M_PI, L_tmpnam. What identifier() adds makes it none.
bool may_be_macro(std::string_view word) {
  if (word.size() < 3 || word.ends_with('_') || word.find("__") != std::string_view::npos) return false;
  return word.starts_with("L_") || word.starts_with("M_") || word.starts_with("P_") ||
         std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_known_to_compilers(std::string_view word) {
  return std::ranges::binary_search(kLanguage, word) || std::ranges::binary_search(kLibrary, word);
}

bool is_taken_by_code(std::string_view word) {
  return is_known_to_compilers(word) || std::ranges::binary_search(kOwn, word) || is_numbered(word) || is_typed(word) ||
         may_be_macro(word);
}

/// Letters, digits and single underscores between them.
std::string plain(std::string_view name, std::string_view fallback) {
  std::string base;
  for (const char c : name.substr(0, kLongest)) {
    const bool is_plain = is_letter(c) || is_digit(c);
    if (is_plain || (!base.empty() && base.back() != '_')) base += is_plain ? c : '_';
  }
  while (!base.empty() && base.back() == '_') base.pop_back();
  if (base.empty()) base = fallback;
  return is_digit(base[0]) ? std::string(fallback) + "_" + base : base;
}

}  // namespace

std::string comment(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, 2 * kLongest)) {
    const bool is_plain =
        is_letter(c) || is_digit(c) || std::string_view(" _-.,:;()[]'=<>+").find(c) != std::string_view::npos;
    text += is_plain ? c : c == '/' ? '/' : '_';
  }
  return text;
}

std::string global_identifier(std::string_view name, std::string_view fallback) {
  const std::string base = plain(name, fallback);
  return is_known_to_compilers(base) ? base + "_" : base;
}

std::string Names::identifier(std::string_view name, std::string_view fallback,
                              std::initializer_list<std::string_view> prefixes) {
  const auto is_taken = [&](std::string_view word) { return taken_.contains(word) || is_taken_by_code(word); };
  std::string base = plain(name, fallback);
  if (is_taken_by_code(base)) base += "_";
  std::string unique = base;
  const auto is_free = [&] {
    return !is_taken(unique) &&
           std::ranges::none_of(prefixes, [&](std::string_view p) { return is_taken(std::string(p) + unique); });
  };
  for (int i = 2; !is_free(); ++i) {
    unique = base + "_" + std::to_string(i);
    if (is_taken_by_code(unique)) unique += "_";  // X_2 may be a macro, step_2 is a function: so are all that follow
  }
  taken_.insert(unique);
  for (const std::string_view p : prefixes) taken_.insert(std::string(p) + unique);
  return unique;
}

}  // namespace ingot::backends::cpp
