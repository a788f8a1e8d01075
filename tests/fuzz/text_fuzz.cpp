// Fuzzes text of every kind that is not a file: what is printed of models, and what users write on the command line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingot/base/error.h"
#include "ingot/base/printable.h"
#include "ingot/driver/options.h"

namespace {

using namespace ingot;

/// What is printed of any text is UTF-8 without anything that steers a terminal, and printing it again changes nothing.
void print(std::string_view text) {
  for (const std::size_t longest : {std::size_t{7}, std::string::npos}) {
    const std::string shown = printable(text, false, longest);
    if (printable(shown) != shown) __builtin_trap();
    for (std::string_view rest = shown; !rest.empty();) {
      const CodePoint c = first_code_point(rest);
      if (c.size <= 0 || is_steering(c.value)) __builtin_trap();
      rest.remove_prefix(static_cast<std::size_t>(c.size));
    }
  }
}

template <class Parse> void attempt(Parse parse) {
  try {
    (void)parse();
  } catch (const Error& error) {
    if (error.exit_code() == 70) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  print(text);
  print(Error(Code::bad_usage, "m").in_node(text, text).what());
  attempt([&] { return driver::parse_input_shape(text); });
  attempt([&] { return driver::parse_rename(text); });
  attempt([&] { return driver::parse_operator(text); });
  attempt([&] { return driver::parse_mode(text); });
  return 0;
}
