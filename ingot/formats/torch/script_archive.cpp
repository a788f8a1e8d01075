// Writes TorchScript archives: a pickle of the modules, one of the constants, their storages, the code.
#include "ingot/formats/torch/script_archive.h"

#include <fmt/format.h>

#include <bit>
#include <map>

#include "ingot/base/error.h"
#include "ingot/formats/torch/scalar_type.h"
#include "ingot/formats/torch/tensor.h"
#include "ingot/formats/zip/archive.h"

namespace ingot::formats::torch {
namespace {

using Members = std::vector<std::pair<std::string, Bytes>>;

std::string_view storage_class(DType dtype) {
  const std::string_view name = storage_name(dtype);
  if (name.empty())
    throw Error(Code::unsupported_type_in_target, fmt::format("PyTorch has no tensors of {}", name_of(dtype)));
  return name;
}

/// A pickle of protocol 2 in the opcodes that PyTorch's own reader knows, with the storages that it names.
class Pickler {
 public:
  /// Storages become members below `directory`.
  Pickler(std::string directory, Members& members) : directory_(std::move(directory)), members_(members) {}

  void module(const StoredModule& m) {
    const std::size_t dot = m.type.rfind('.');
    global(m.type.substr(0, dot), m.type.substr(dot + 1));
    text_ += ")\x81}(";
    text("training");
    flag(m.is_training);
    for (const auto& [name, value] : m.tensors) {
      text(name);
      tensor(value);
    }
    for (const auto& [name, child] : m.children) {
      text(name);
      module(child);
    }
    text_ += "ub";
  }

  void tuple(const std::vector<StoredTensor>& tensors) {
    text_ += '(';
    for (const StoredTensor& value : tensors) tensor(value);
    text_ += 't';
  }

  std::string take() {
    text_ += '.';
    return std::move(text_);
  }

 private:
  void global(std::string_view module, std::string_view name) { text_ += fmt::format("c{}\n{}\n", module, name); }
  void flag(bool value) { text_ += value ? '\x88' : '\x89'; }
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> (8 * i));
  }
  void text(std::string_view value) {
    text_ += 'X';
    number(value.size(), 4);
    text_ += value;
  }
  void integer(std::int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
      text_ += 'J';
      number(static_cast<std::uint64_t>(value), 4);
    } else {
      text_ += "\x8a\x08";
      number(static_cast<std::uint64_t>(value), 8);
    }
  }
  void integers(const std::vector<std::int64_t>& values) {
    text_ += '(';
    for (const std::int64_t value : values) integer(value);
    text_ += 't';
  }
  std::string storage_key(const Bytes& data) {
    const auto [known, is_new] = keys_.try_emplace({data.data(), data.size()}, keys_.size());
    if (is_new) members_.emplace_back(fmt::format("{}/{}", directory_, known->second), data);
    return std::to_string(known->second);
  }
  void tensor(const StoredTensor& value) {
    const std::int64_t width = bits_of(value.dtype) / 8;
    global("torch._utils", "_rebuild_tensor_v2");
    text_ += "((";
    text("storage");
    global("torch", storage_class(value.dtype));
    text(storage_key(value.data));
    text("cpu");
    integer(static_cast<std::int64_t>(value.data.size()) / width);
    text_ += "tQ";
    integer(0);
    integers(value.dims);
    integers(contiguous_strides(value.dims));
    flag(value.requires_grad);
    global("collections", "OrderedDict");
    text_ += ")RtR";
  }

  std::string directory_;
  Members& members_;
  std::string text_ = "\x80\x02";
  std::map<std::pair<const std::byte*, std::size_t>, std::size_t> keys_;
};

}  // namespace

void write_script(const ScriptArchive& archive, Sink& sink) {
  static_assert(std::endian::native == std::endian::little);
  Members storages;
  Pickler data(archive.name + "/data", storages), constants(archive.name + "/constants", storages);
  data.module(archive.root);
  constants.tuple(archive.constants);
  Members members{{archive.name + "/data.pkl", Bytes::own(data.take())},
                  {archive.name + "/code/__torch__.py", Bytes::own(archive.code)}};
  members.insert(members.end(), storages.begin(), storages.end());
  members.emplace_back(archive.name + "/constants.pkl", Bytes::own(constants.take()));
  members.emplace_back(archive.name + "/" + kInterfaceFile, Bytes::own(text_of(archive.interface)));
  members.emplace_back(archive.name + "/version", Bytes::own(std::string("5\n")));
  zip::write(members, sink);
}

}  // namespace ingot::formats::torch
