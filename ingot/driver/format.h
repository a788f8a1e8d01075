#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/driver/options.h"

namespace ingot {
class Model;
}

namespace ingot::driver {

struct Imported;
struct ImportOptions;
struct LoadOptions;
struct SaveOptions;

/// What is to be read: a file with its contents, or a directory.
struct Source {
  std::string path;  // empty: it is in memory alone
  bool is_directory = false;
  Bytes contents{};

  /// The directory itself, or the one that holds the file; empty where there is none.
  std::string directory() const;
};

/// Maps a file, or notes that it is a directory.
Source open_source(const std::string& path);

/// How sure a format is that a source is one of its own: the surest format wins, and of equally sure ones the first.
enum class Certainty : std::uint8_t {
  no,
  possible,  // nothing speaks against it
  likely,    // it begins as such files do
  sure,      // its structure is that of the format
  certain,   // it says so: a magic number, a file name that the format prescribes
};

/// What a framework has for one ONNX operator.
struct ExportLine {
  std::string domain, name;
  bool is_native = false, decomposes = false;
};

/// Something of a model that a framework cannot express, and which options may help.
struct ExportObstacle {
  std::string where, op, reason, remedy;
  std::string_view kind{};  // "element_type", ...: what is in the way, for programs
};

/// Whose operators a format speaks; several formats may speak the same. Null: there is nothing to tell.
struct Vocabulary {
  std::string_view name;
  /// The operators that have a translation into ONNX, sorted.
  std::vector<std::string> (*translated)() = nullptr;
  /// What it has for each ONNX operator.
  std::vector<ExportLine> (*exported)() = nullptr;
  /// All that stands in the way of writing a model, found without writing anything.
  std::vector<ExportObstacle> (*obstacles)(const Model&, const SaveOptions&) = nullptr;
  /// What models are divided for (driver/targets.h), with the runtime's version; empty: the format's name.
  std::string_view target{};
};

/// What a file itself holds, in the words of its framework.
struct FileContents {
  struct Signature {
    std::string name;
    std::vector<std::string> inputs{}, outputs{};
  };
  std::map<std::string, std::size_t> operators{};  // -> how often
  std::vector<Signature> signatures{};
  /// What has no other place, in lines for people: the values of a pickle.
  struct Section {
    std::string title;
    std::vector<std::string> lines{};
  };
  std::vector<Section> sections{};
};

/// All that Ingot knows of one file format: a row of the format table.
struct Format {
  std::string_view name;                           // as in --from and --to
  std::string_view title;                          // for people
  std::span<const std::string_view> extensions{};  // with the dot
  /// It holds ONNX: operator sets are kept unless others are asked for, and nothing is translated.
  bool is_onnx = false;
  const Vocabulary* operators = nullptr;
  /// The runtimes that run such files as they are, the one that the format is made for first (verify/runtime.h).
  std::span<const std::string_view> runtimes{};

  Certainty (*recognise)(const Source&) = nullptr;  // null: by its extension alone
  /// Without translating it; null: what load() gives tells all.
  FileContents (*describe)(const Source&, const LoadOptions&) = nullptr;
  Imported (*load)(const Source&, const LoadOptions&) = nullptr;  // null: it cannot be read
  OptionSet import_options{};
  /// Writes the file whole or not at all; returns what a reader of a report should know, a line each. Null: it cannot
  /// be written.
  std::vector<std::string> (*save)(const Model&, const std::string& path, const SaveOptions&) = nullptr;
  OptionSet export_options{};

  /// Why a model read with these options cannot be compared with its source in the source's own runtime; empty: it can.
  std::string (*why_not_verified)(const ImportOptions&) = nullptr;
  /// Why nothing runs such files, not even Ingot; empty: something does.
  std::string_view why_not_run{};
  /// The file does not say of which shapes and types its inputs are: those of the arrays that are given are told.
  bool leaves_inputs_open = false;
  /// One file is a whole model, so that it can be read from memory.
  bool is_one_file = false;
};

/// The formats that Ingot brings, then those registered.
std::vector<const Format*> all_formats();
/// Adds a row, which must stay where it is until the process ends. Refuses a name that is taken.
void register_format(const Format& format);

/// By the name of --from and --to; refuses unknown ones with the list of those known.
const Format& format_by_name(std::string_view name);
/// By the extension; null if it says nothing.
const Format* format_by_extension(std::string_view path);
/// By the contents, and by the name where those leave it open; refuses what it does not recognise.
const Format& recognise(const Source& source);
/// The one that was named, where one was, else the one recognised; refuses what is known to be of no format.
const Format& format_to_read(const Source& source, const Format* named);
/// "onnx, tflite": the names of the formats for which `has` holds, for hints and help.
std::string format_names(bool (*has)(const Format&));

// For `format_names`.
bool is_readable(const Format& format);
bool is_writable(const Format& format);
bool is_readable_in_memory(const Format& format);
bool has_translations(const Format& format);
bool has_exports(const Format& format);

}  // namespace ingot::driver
