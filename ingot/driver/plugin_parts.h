#pragma once
#include <string>

struct ingot_format;
struct ingot_operator;

namespace ingot::driver {

/// "domain.Name(x, bias?, more...) -> (y)".
struct OperatorSchema {
  std::string domain, name, text;
  std::size_t least_inputs = 0, most_inputs = 0, least_outputs = 0, most_outputs = 0;
};
/// Refuses what is not of that form; `plugin` is for messages.
OperatorSchema parse_schema(const std::string& text, const std::string& plugin);

void add_plugin_operator(const std::string& plugin, OperatorSchema schema, const ingot_operator& op);
void add_plugin_format(const std::string& plugin, const ingot_format& format);

}  // namespace ingot::driver
