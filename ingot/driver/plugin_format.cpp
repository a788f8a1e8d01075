// A format of a plug-in: a row whose functions know their place.
#include <array>
#include <deque>
#include <utility>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/driver/format.h"
#include "ingot/driver/load.h"
#include "ingot/driver/plugin_parts.h"
#include "ingot/ingot_plugin.h"
#include "ingot/ir/model.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/writer.h"

namespace ingot::driver {
namespace {

constexpr std::size_t kMostFormats = 8;  // rows of the table are plain functions, so each place has its own

struct Slot {
  std::string plugin, name, title, extension;
  std::string_view extensions[1];
  ingot_format format{};
  Format row{};
};

std::deque<Slot>& slots() {
  static std::deque<Slot> all;  // rows stay where they are
  return all;
}

/// What a plug-in hands out, given back in any case.
class Handed {
 public:
  Handed() = default;
  Handed(const Handed&) = delete;
  Handed& operator=(const Handed&) = delete;
  ~Handed() {
    try {
      give_back();
    } catch (...) {
    }  // another error is on its way, and tells more
  }
  void give_back() {
    if (const auto release = std::exchange(bytes.release, nullptr)) release(&bytes);
  }
  ingot_bytes bytes{};
};

using Translate = int (*)(const void*, std::size_t, ingot_bytes*, char*, std::size_t);

std::string translated(const Slot& slot, Translate translate, std::span<const std::byte> from) {
  const auto guarded = [&](const auto& call) {
    try {
      call();
    } catch (...) {
      throw Error(Code::bad_field_value, "plug-in '" + slot.plugin + "' throws an exception through the interface");
    }
  };
  Handed handed;
  std::array<char, 512> message{};
  int code = 1;
  guarded([&] { code = translate(from.data(), from.size(), &handed.bytes, message.data(), message.size()); });
  message.back() = 0;
  if (code != 0)
    throw Error(Code::bad_field_value,
                "plug-in '" + slot.plugin +
                    "': " + (message[0] ? std::string(message.data()) : "it fails and does not say why"));
  if (!handed.bytes.data && handed.bytes.size)
    throw Error(Code::bad_field_value, "plug-in '" + slot.plugin + "': it gives nothing");
  std::string text(static_cast<const char*>(handed.bytes.data), handed.bytes.size);
  guarded([&] { handed.give_back(); });
  return text;
}

template <std::size_t N> Certainty recognise_slot(const Source& source) {
  const Slot& slot = slots()[N];
  if (source.is_directory) return Certainty::no;
  try {
    return slot.format.recognise(source.contents.data(), source.contents.size()) ? Certainty::certain : Certainty::no;
  } catch (...) {
    return Certainty::no;
  }
}

template <std::size_t N> Imported load_slot(const Source& source, const LoadOptions& options) {
  const Slot& slot = slots()[N];
  const std::string onnx = translated(slot, slot.format.read, std::as_bytes(std::span(source.contents.text())));
  Imported imported;
  onnx::ReadOptions read;
  read.budget = options.budget;
  imported.model = onnx::read(Bytes::copy(std::as_bytes(std::span(onnx))), {}, read);
  return imported;
}

template <std::size_t N>
std::vector<std::string> save_slot(const Model& model, const std::string& path, const SaveOptions&) {
  const Slot& slot = slots()[N];
  const std::string onnx = onnx::to_bytes(model);
  AtomicFile file(path);
  file.write(translated(slot, slot.format.write, std::as_bytes(std::span(onnx))));
  file.commit();
  return {};
}

template <std::size_t N> void fill(Slot& slot) {
  if (slot.format.recognise) slot.row.recognise = recognise_slot<N>;
  if (slot.format.read) slot.row.load = load_slot<N>;
  if (slot.format.write) slot.row.save = save_slot<N>;
}

template <std::size_t... N> void fill(Slot& slot, std::size_t place, std::index_sequence<N...>) {
  ((N == place ? fill<N>(slot) : void()), ...);
}

}  // namespace

void add_plugin_format(const std::string& plugin, const ingot_format& format) {
  const auto refuse = [&](const std::string& why) { throw Error(Code::bad_usage, "plug-in '" + plugin + "': " + why); };
  if (!format.name || !*format.name || !format.extension || format.extension[0] != '.')
    refuse("a format has no name or no extension");
  if (!format.read && !format.write)
    refuse(std::string("the format '") + format.name + "' is neither read nor written");
  if (slots().size() == kMostFormats) refuse("there are too many formats of plug-ins");
  Slot& slot = slots().emplace_back();
  slot.plugin = plugin;
  slot.name = format.name;
  slot.title = format.title ? format.title : format.name;
  slot.extension = format.extension;
  slot.extensions[0] = slot.extension;
  slot.format = format;
  slot.row.name = slot.name;
  slot.row.title = slot.title;
  slot.row.extensions = slot.extensions;
  slot.row.is_one_file = true;
  fill(slot, slots().size() - 1, std::make_index_sequence<kMostFormats>());
  try {
    register_format(slot.row);
  } catch (const Error& error) {
    slots().pop_back();
    refuse(error.message());
  }
}

}  // namespace ingot::driver
