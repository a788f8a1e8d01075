// What stands between printing and the terminal.
#include "harmless_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include "ingot/base/printable.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

/// The text that one stream still holds back: the beginning of a character or sequence.
struct Filter {
  int descriptor;
  bool is_terminal;
  std::string rest = {};
};

/// How many bytes of `text` are a sequence of ours; -1: perhaps, once there is more.
int own_sequence(std::string_view text) {
  for (const std::string_view own : own_sequences()) {
    if (text.starts_with(own)) return static_cast<int>(own.size());
    if (text.size() < own.size() && own.starts_with(text)) return -1;
  }
  return 0;
}

/// JSON stays JSON: it holds no control characters below 0x20, and the others have the same escape there.
void append_escaped(std::string& out, std::uint32_t c) {
  char text[16];
  std::snprintf(text, sizeof text, c < 0x20 ? "\\x%02x" : "\\u%04x", c);
  out += text;
}

/// What may be printed of the text; the rest of it waits for more.
std::string taken(Filter& filter) {
  std::string out;
  std::string_view text = filter.rest;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.size < 0) break;
    std::size_t size = static_cast<std::size_t>(std::max(c.size, 1));
    if (c.size > 0 && (!is_steering(c.value) || c.value == '\n' || c.value == '\t')) {
      out += text.substr(0, size);
    } else {
      const int own = filter.is_terminal ? own_sequence(text) : 0;
      if (own < 0) break;
      size = std::max(size, static_cast<std::size_t>(own));
      if (own > 0)
        out += text.substr(0, size);
      else
        append_escaped(out, c.value);
    }
    text.remove_prefix(size);
  }
  filter.rest.erase(0, filter.rest.size() - text.size());
  return out;
}

int first_failure = 0;

ssize_t fail(int error) {
  if (!first_failure) first_failure = error;
  errno = error;
  return 0;
}

ssize_t write_filtered(void* cookie, const char* bytes, std::size_t size) try {
  Filter& filter = *static_cast<Filter*>(cookie);
  filter.rest.append(bytes, size);
  const std::string out = taken(filter);
  for (std::string_view left = out; !left.empty();) {
    const ssize_t written = ::write(filter.descriptor, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return static_cast<ssize_t>(size);
} catch (const std::bad_alloc&) {
  return fail(ENOMEM);
}

std::FILE* filtered(int descriptor, std::FILE* plain) {
  static Filter filters[] = {{STDOUT_FILENO, false}, {STDERR_FILENO, false}};
  Filter& filter = filters[descriptor == STDERR_FILENO];
  filter.is_terminal = ::isatty(descriptor) != 0;
  const cookie_io_functions_t functions = {.read = nullptr, .write = write_filtered, .seek = nullptr, .close = nullptr};
  std::FILE* const stream = ::fopencookie(&filter, "w", functions);
  if (!stream) return plain;
  if (descriptor == STDERR_FILENO)
    std::setvbuf(stream, nullptr, _IONBF, 0);
  else if (filter.is_terminal)
    std::setvbuf(stream, nullptr, _IOLBF, 0);
  return stream;
}

}  // namespace

void make_output_harmless() {
  stdout = filtered(STDOUT_FILENO, stdout);
  stderr = filtered(STDERR_FILENO, stderr);
}

int failed_write() { return first_failure; }

}  // namespace ingot::cli
