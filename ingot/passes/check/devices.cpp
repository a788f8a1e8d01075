// Device configurations, of the model and of its nodes.
#include <fmt/format.h>

#include <optional>
#include <unordered_set>

#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

/// The fields of a protobuf message whose content is bytes, one after the other. The IR keeps what nodes say about
/// devices as it stood in the file; only two names in it have rules.
class ByteFields {
 public:
  explicit ByteFields(std::string_view message) : rest_(message) {}

  /// False at the end, and where the message is damaged.
  bool next() {
    while (const auto key = varint()) {
      const std::uint64_t wire = *key & 7;
      number = *key >> 3;
      if (wire == 0) {
        if (!varint()) return false;
      } else if (wire == 2) {
        const auto length = varint();
        if (!length || *length > rest_.size()) return false;
        content = rest_.substr(0, *length);
        rest_.remove_prefix(*length);
        return true;
      } else {
        const std::size_t width = wire == 1 ? 8 : wire == 5 ? 4 : 0;
        if (width == 0 || width > rest_.size()) return false;
        rest_.remove_prefix(width);
      }
    }
    return false;
  }

  std::uint64_t number = 0;
  std::string_view content;

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

constexpr std::uint64_t kConfigurationId = 1, kShardingSpec = 2, kTensorName = 1;

void check_sharding(Context& c, const Node& node, std::string_view spec) {
  std::string_view tensor;
  for (ByteFields field(spec); field.next();)
    if (field.number == kTensorName) tensor = field.content;
  for (std::size_t i = 0; i < node.input_count(); ++i)
    if (node.input(i) && node.input(i)->name() == tensor) return;
  for (std::size_t i = 0; i < node.output_count(); ++i)
    if (node.output(i) && node.output(i)->name() == tensor) return;
  c.report.error(
      Code::bad_device_configuration, c.places.of(node),
      fmt::format("a sharding names {}, which is neither an input nor an output of the node", quoted(tensor)),
      "correct the name");
}

void check_node(Context& c, const Node& node, const std::unordered_set<std::string_view>& names) {
  for (ByteFields configuration(node.device_configurations); configuration.next();) {
    std::string_view id;
    for (ByteFields field(configuration.content); field.next();) {
      if (field.number == kConfigurationId) id = field.content;
      if (field.number == kShardingSpec) check_sharding(c, node, field.content);
    }
    if (!names.contains(id))
      c.report.error(Code::bad_device_configuration, c.places.of(node),
                     fmt::format("the model has no device configuration {}", quoted(id)),
                     "correct the name, or add the configuration to the model");
  }
}

}  // namespace

void check_devices(Context& c) {
  std::unordered_set<std::string_view> names;
  for (const DeviceConfiguration& d : c.model.device_configurations) {
    const std::string place = "device configuration " + quoted(d.name);
    if (d.name.empty())
      c.report.error(Code::bad_device_configuration, place, "the configuration has no name", "give it one");
    else if (!names.insert(d.name).second)
      c.report.error(Code::bad_device_configuration, place, "two configurations have this name", "rename one of them");
    if (d.device_count < 1)
      c.report.error(Code::bad_device_configuration, place, fmt::format("the number of devices is {}", d.device_count),
                     "it must be at least 1");
    else if (!d.devices.empty() && d.devices.size() != static_cast<std::size_t>(d.device_count))
      c.report.error(
          Code::bad_device_configuration, place,
          fmt::format("{} named, but the configuration has {}", counted(d.devices.size(), "device"), d.device_count),
          "name all devices or none");
  }
  for (const GraphPlace& place : c.graphs)
    for (const Node& node : place.graph->nodes())
      if (!node.device_configurations.empty()) check_node(c, node, names);
}

}  // namespace ingot::passes::rules
