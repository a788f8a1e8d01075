// What people take for models: recognised by how it begins, and named.
#include "ingot/driver/other_files.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "ingot/base/error.h"

namespace ingot::driver {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::size_t at;  // where the mark stands
  std::string_view mark;
  std::string_view what, remedy;
};

constexpr std::string_view kUnpack = "unpack it, and name the model that is in it";
constexpr std::string_view kWeightsAlone =
    "weights alone are no model: export the whole model from the program that made it, to ONNX, SavedModel or TFLite";
constexpr std::string_view kReadTorch =
    "files of PyTorch are read: leave --from out; a damaged one must be saved or downloaded again";
constexpr std::string_view kReadPickle =
    "models of scikit-learn, XGBoost and LightGBM are read from pickles: leave --from out";
constexpr std::string_view kExportKeras =
    "in Python, keras.models.load_model(file).export('folder') writes a SavedModel, which Ingot reads";

constexpr Kind kKinds[] = {
    {0, "version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the file itself",
     "'git lfs pull' in its repository fetches the file"},
    {0, "\x1f\x8b"sv, "compressed by gzip", "'gunzip' it first, or 'tar -xzf' an archive"},
    {0, "BZh"sv, "compressed by bzip2", "'bunzip2' it first"},
    {0, "\xfd\x37zXZ\0"sv, "compressed by xz", "'unxz' it first"},
    {0, "\x28\xb5\x2f\xfd"sv, "compressed by zstd", "'unzstd' it first"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive", kUnpack},
    {0, "Rar!\x1a\x07"sv, "a rar archive", kUnpack},
    {257, "ustar"sv, "a tar archive", "'tar -xf' it, and name the model that is in it"},
    {0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv, "a PyTorch file of the old form (.pt, .pth)",
     kReadTorch},
    {0, "\x80\x02"sv, "a pickle of Python (.pkl, .joblib, .pt)", kReadPickle},
    {0, "\x80\x03"sv, "a pickle of Python (.pkl, .joblib)", kReadPickle},
    {0, "\x80\x04\x95"sv, "a pickle of Python (.pkl, .joblib)", kReadPickle},
    {0, "\x80\x05\x95"sv, "a pickle of Python (.pkl, .joblib)", kReadPickle},
    {0, "GGUF"sv, "a GGUF file", kWeightsAlone},
    {8, "{\"__metadata__\""sv, "a safetensors file", kWeightsAlone},
    {4, "PTMF"sv, "bytecode of PyTorch's Lite interpreter (.ptl in the flatbuffer form)",
     "take the TorchScript file that it was made from"},
    {4, "ORTM"sv, "of ONNX Runtime's own format (.ort)", "take the ONNX file that it was made from"},
    {0, "\x93NUMPY"sv, "an array of NumPy: data, not a model", "'ingot run MODEL --in NAME=file.npy' takes it"},
    {0, "\x89PNG"sv, "a picture, not a model", ""},
    {0, "\xff\xd8\xff"sv, "a picture, not a model", ""},
    {0, "%PDF"sv, "a PDF document, not a model", ""},
    {0,
     "\x7f"
     "ELF"sv,
     "a program or library, not a model", ""},
};

/// Zip archives are told apart by the names in their directory, which stands at the end.
struct Packed {
  std::string_view name, what, remedy;
};

constexpr Packed kPacked[] = {
    {"data.pkl", "a PyTorch file (.pt, .pth)", kReadTorch},
    {"model.weights.h5", "a Keras file (.keras)", kExportKeras},
    {"saved_model.pb", "a zip archive with a SavedModel", "unpack it, and name the directory"},
    {".onnx", "a zip archive with an ONNX file", kUnpack},
    {".tflite", "a zip archive with a TFLite file", kUnpack},
    {".npy", "arrays of NumPy (.npz): data, not a model", "'ingot run MODEL --in file.npz' takes them"},
};

[[noreturn]] void refuse(const Source& source, std::string_view what, std::string_view remedy) {
  Error error(Code::unknown_format, "the file is " + std::string(what));
  error.in_file(source.path);
  if (!remedy.empty()) error.hint(std::string(remedy));
  throw error;
}

/// In lower case and without blanks before it: how the web writes its pages varies.
std::string beginning(std::string_view text) {
  std::string begin;
  for (const char c : text.substr(0, 512)) {
    const auto byte = static_cast<unsigned char>(c);
    if (begin.empty() && (std::isspace(byte) || byte >= 0x80)) continue;  // blanks, a byte order mark
    begin += static_cast<char>(std::tolower(byte));
  }
  return begin;
}

/// What a server says in place of a file: its first line, if all of it is text.
std::optional<std::string> first_line(std::string_view text) {
  constexpr std::size_t kEnough = 4096, kShown = 80;
  bool has_words = false;
  for (const char c : text.substr(0, kEnough)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0x7f || (byte < 0x20 && !std::isspace(byte))) return std::nullopt;
    has_words |= std::isalnum(byte) != 0;
  }
  if (!has_words) return std::nullopt;
  const std::string_view line = text.substr(text.find_first_not_of(" \t\r\n\v\f\xef\xbb\xbf"));
  std::string shown;
  for (const char c : line.substr(0, std::min(line.find_first_of("\r\n"), kShown)))
    shown += static_cast<unsigned char>(c) < 0x80 ? c : '?';
  return shown + (line.substr(0, line.find_first_of("\r\n")).size() > kShown ? "..." : "");
}

void refuse_text(const Source& source, std::string_view text) {
  const auto line = first_line(text);
  if (!line) return;
  const bool is_json = line->starts_with('{') || line->starts_with('[');
  refuse(source, std::string(is_json ? "JSON" : "a text") + ", not a model; it begins: " + *line,
         "what was downloaded may be the answer of a server about the file: download it again");
}

void refuse_zip(const Source& source, std::string_view text) {
  constexpr std::size_t kDirectory = 65536;
  const std::string_view end = text.substr(text.size() - std::min(text.size(), kDirectory));
  for (const Packed& packed : kPacked)
    if (end.find(packed.name) != std::string_view::npos) refuse(source, packed.what, packed.remedy);
  refuse(source, "a zip archive", kUnpack);
}

/// Whether what is called so is never a text.
bool has_binary_name(const std::string& path) {
  constexpr std::string_view kBinary[] = {".onnx", ".ort", ".tflite", ".pb",  ".h5",     ".hdf5",       ".keras",
                                          ".pt",   ".pt2", ".pth",    ".safetensors"};
  std::string lower(path);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return std::ranges::any_of(kBinary, [&](std::string_view extension) { return lower.ends_with(extension); });
}

}  // namespace

void refuse_other_files(const Source& source) {
  if (source.is_directory) return;
  const std::string_view text = source.contents.text();
  if (text.empty()) refuse(source, "empty", "what made it did not finish: download or export it again");
  for (const Kind& kind : kKinds)
    if (text.size() > kind.at && text.substr(kind.at).starts_with(kind.mark)) refuse(source, kind.what, kind.remedy);
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) refuse_zip(source, text);
  const std::string begin = beginning(text);
  if (begin.starts_with("<!doctype html") || begin.starts_with("<html"))
    refuse(source, "a page of the web (HTML), not a model",
           "what was downloaded is the page about the file: take the link to the file itself ('raw', 'download')");
  if (begin.starts_with("<?xml"))
    refuse(source, "an XML document, not a model", "of OpenVINO's models, take the ONNX file they were made from");
  if (has_binary_name(source.path)) refuse_text(source, text);
  if (text.size() > 64 && text.find_first_not_of('\0') == std::string_view::npos)
    refuse(source, "nothing but zeros", "what made it did not finish: download or export it again");
}

}  // namespace ingot::driver
