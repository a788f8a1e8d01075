// Which formats there are, and how a file tells its own.
#include "ingot/driver/format.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <mutex>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/other_files.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;

/// The built-in rows are constant; plug-ins add theirs while the program runs.
struct Registry {
  std::mutex mutex;
  std::vector<const Format*> rows{
#define INGOT_FORMAT(name) &rows::k##name##Format,
#include "ingot/driver/formats/formats.def"
#undef INGOT_FORMAT
  };
};

Registry& registry() {
  static Registry made;
  return made;
}

bool ends_with(std::string_view path, std::string_view extension) {
  const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  return path.size() >= extension.size() &&
         std::ranges::equal(path.substr(path.size() - extension.size()), extension, {}, lower);
}

const Format* surest(const Source& source) {
  const Format* best = nullptr;
  Certainty how_sure = Certainty::no;
  for (const Format* format : all_formats()) {
    const Certainty now = format->recognise ? format->recognise(source) : Certainty::no;
    if (now > how_sure) {
      best = format;
      how_sure = now;
    }
  }
  return best;
}

Error unknown_directory(const std::string& path) {
  Error error(Code::unknown_format, "the directory holds no model of a format that Ingot knows");
  // Programs that serve models keep their versions in directories side by side.
  std::error_code unreadable;
  std::string inner;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, unreadable))
    if (entry.is_directory(unreadable) && surest({.path = entry.path().string(), .is_directory = true}))
      inner = std::max(inner, entry.path().string());
  if (!inner.empty()) error.hint("there is one in " + inner);
  return error;
}

}  // namespace

std::string Source::directory() const {
  if (is_directory || path.empty()) return path;
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

Source open_source(const std::string& path) {
  if (path.find('\0') == std::string::npos && fs::is_directory(path)) return {.path = path, .is_directory = true};
  return {.path = path, .contents = map_file(path)};
}

std::vector<const Format*> all_formats() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.rows;
}

void register_format(const Format& format) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const Format* known : all.rows)
    if (known->name == format.name)
      throw Error(Code::bad_usage, "there is a format '" + std::string(format.name) + "' already");
  all.rows.push_back(&format);
}

const Format& format_by_name(std::string_view name) {
  for (const Format* format : all_formats())
    if (format->name == name) return *format;
  throw Error(Code::bad_usage, "there is no format '" + std::string(name) + "'")
      .hint("known formats: " + format_names([](const Format&) { return true; }));
}

const Format* format_by_extension(std::string_view path) {
  for (const Format* format : all_formats())
    for (const std::string_view extension : format->extensions)
      if (ends_with(path, extension)) return format;
  return nullptr;
}

const Format& recognise(const Source& source) {
  if (const Format* format = surest(source)) return *format;
  if (source.is_directory) throw unknown_directory(source.path).in_file(source.path);
  refuse_other_files(source);
  const Format* named = format_by_extension(source.path);
  if (named && named->load) return *named;
  throw Error(Code::unknown_format, "the format of this file is not recognised")
      .in_file(source.path)
      .hint("name it with --from: " + format_names(source.path.empty() ? is_readable_in_memory : is_readable));
}

const Format& format_to_read(const Source& source, const Format* named) {
  if (!named) return recognise(source);
  if (named->recognise && named->recognise(source) == Certainty::no) refuse_other_files(source);
  return *named;
}

std::string format_names(bool (*has)(const Format&)) {
  std::string names;
  for (const Format* format : all_formats())
    if (has(*format)) names += (names.empty() ? "" : ", ") + std::string(format->name);
  return names;
}

bool is_readable(const Format& format) { return format.load; }
bool is_writable(const Format& format) { return format.save; }
bool is_readable_in_memory(const Format& format) { return format.load && format.is_one_file; }
bool has_translations(const Format& format) { return format.load && format.operators && format.operators->translated; }
bool has_exports(const Format& format) { return format.save && format.operators && format.operators->exported; }

}  // namespace ingot::driver
