// TensorFlow's definitions of the operators that are written.
#include "ingot/backends/tensorflow/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ingot/base/error.h"

namespace ingot::backends::tensorflow {
namespace {

namespace tf = formats::tensorflow;

struct Line {
  std::string_view op, inputs, results, attributes;
};
constexpr Line kLines[] = {
#include "ingot/backends/tensorflow/definitions.inc"
};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string full_name(std::string_view word) {
  std::string name = "DT_";
  for (const char c : word) name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

Definition::Argument argument_of(std::string_view text) {
  Definition::Argument argument;
  const std::size_t colon = text.find(':');
  argument.name = text.substr(0, colon);
  std::string_view kind = text.substr(colon + 1);
  if (const std::size_t star = kind.find('*'); star != kind.npos) {
    argument.number_attr = kind.substr(0, star);
    kind.remove_prefix(star + 1);
  }
  if (kind.ends_with("[]"))
    argument.type_list_attr = kind.substr(0, kind.size() - 2);
  else if (const auto type = tf::data_type_by_name(full_name(kind)))
    argument.type = *type;
  else
    argument.type_attr = kind;
  return argument;
}

Definition::Attribute attribute_of(std::string_view text) {
  Definition::Attribute attribute;
  if (const std::size_t brace = text.find('{'); brace != text.npos) {
    attribute.allowed = split(text.substr(brace + 1, text.size() - brace - 2), ',');
    text = text.substr(0, brace);
  }
  const std::size_t colon = text.find(':');
  attribute.name = text.substr(0, colon);
  std::string_view type = text.substr(colon + 1);
  attribute.has_default = type.ends_with('?') || type.find('=') != type.npos;
  if (const std::size_t equals = type.find('='); equals != type.npos) {
    attribute.default_type = tf::data_type_by_name(full_name(type.substr(equals + 1))).value_or(tf::DataType::invalid);
    type = type.substr(0, equals);
  }
  if (type.ends_with('?')) type.remove_suffix(1);
  attribute.type = type;
  return attribute;
}

std::map<std::string_view, Definition> read_lines() {
  std::map<std::string_view, Definition> all;
  for (const Line& line : kLines) {
    Definition& made = all[line.op];
    for (const std::string_view text : split(line.inputs, ' ')) made.inputs.push_back(argument_of(text));
    for (const std::string_view text : split(line.results, ' ')) made.results.push_back(argument_of(text));
    for (const std::string_view text : split(line.attributes, ' ')) made.attributes.push_back(attribute_of(text));
  }
  return all;
}

const tf::AttrValue* find_attr(const std::vector<tf::Attr>& attrs, std::string_view name) {
  const auto found = std::ranges::find(attrs, name, &tf::Attr::name);
  return found == attrs.end() ? nullptr : &found->value;
}

}  // namespace

bool Definition::Attribute::allows(tf::DataType value) const {
  return allowed.empty() || std::ranges::any_of(allowed, [&](std::string_view word) {
           return tf::data_type_by_name(full_name(word)) == value;
         });
}

const Definition::Attribute* Definition::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

const Definition* definition_of(std::string_view op) {
  static const std::map<std::string_view, Definition> all = read_lines();
  const auto found = all.find(op);
  return found == all.end() ? nullptr : &found->second;
}

std::size_t count_of(const Definition::Argument& argument, const std::vector<tf::Attr>& attrs) {
  if (!argument.number_attr.empty())
    return static_cast<std::size_t>(std::get<std::int64_t>(*find_attr(attrs, argument.number_attr)));
  if (!argument.type_list_attr.empty())
    return std::get<std::shared_ptr<const tf::AttrList>>(*find_attr(attrs, argument.type_list_attr))->types.size();
  return 1;
}

std::string result_name(std::string_view op, const std::vector<tf::Attr>& attrs, std::int32_t port) {
  auto rest = static_cast<std::size_t>(port);
  for (const Definition::Argument& result : definition_of(op)->results) {
    const std::size_t count = count_of(result, attrs);
    if (rest < count) return fmt::format("{}:{}", result.name, rest);
    rest -= count;
  }
  throw Error(Code::broken_invariant, fmt::format("{} has no result {}", op, port));
}

}  // namespace ingot::backends::tensorflow
