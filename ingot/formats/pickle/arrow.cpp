// Texts that pandas 3 keeps in arrays of Arrow: names of columns.
#include <cstring>

#include "ingot/base/error.h"
#include "ingot/formats/pickle/numpy.h"

namespace ingot::formats::pickle {
namespace {

/// The arguments of a call of this function of pyarrow.lib; nothing: it is something else.
std::span<const Ref> arguments_of(const Value& value, std::string_view function) {
  const Symbol* called = class_of(value);
  if (!called || !called->is("pyarrow.lib", function) || !value.object || !value.object->args) return {};
  return items_of(*value.object->args);
}

Bytes buffer_of(const Document& document, const Value& value) {
  const auto arguments = arguments_of(value, "py_buffer");
  if (arguments.empty()) throw Error(Code::bad_source_graph, "an array of Arrow lacks a buffer");
  return raw_bytes(document, *arguments[0]);
}

/// _restore_array((type, length, nulls, offset, [which are there, where they end, characters], ...))
void add_texts(const Document& document, const Value& array, std::vector<std::string>& texts) {
  const auto refuse = [] { throw Error(Code::bad_source_graph, "an array of Arrow holds something else than texts"); };
  const auto arguments = arguments_of(array, "_restore_array");
  if (arguments.empty()) refuse();
  const auto parts = items_of(*arguments[0]);
  if (parts.size() < 5 || !parts[1]->is(Kind::integer) || !parts[3]->is(Kind::integer)) refuse();
  const auto type = arguments_of(*parts[0], "type_for_alias");
  const auto buffers = items_of(*parts[4]);
  if (type.empty() || buffers.size() < 3 || !buffers[0]->is_none()) refuse();
  const bool is_large = type[0]->text == "large_string";
  if (!is_large && type[0]->text != "string") refuse();
  const Bytes ends = buffer_of(document, *buffers[1]), characters = buffer_of(document, *buffers[2]);
  const std::size_t width = is_large ? sizeof(std::int64_t) : sizeof(std::int32_t);
  const std::int64_t first = parts[3]->integer, count = parts[1]->integer;
  const auto held = static_cast<std::int64_t>(ends.size() / width);
  if (first < 0 || count < 0 || first >= held || count >= held - first)
    throw Error(Code::bad_source_graph, "an array of Arrow is shorter than it says");
  const auto end_at = [&](std::int64_t i) {
    std::int64_t large = 0;
    std::int32_t small = 0;
    const char* at = ends.text().data() + static_cast<std::size_t>(i) * width;
    if (!is_large) {
      std::memcpy(&small, at, width);
      return std::int64_t{small};
    }
    std::memcpy(&large, at, width);
    return large;
  };
  const auto size = static_cast<std::int64_t>(characters.size());
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::int64_t begin = end_at(i), end = end_at(i + 1);
    if (begin < 0 || end < begin || end > size)
      throw Error(Code::bad_source_graph, "an array of Arrow has a text outside of its characters");
    texts.emplace_back(
        characters.text().substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }
}

}  // namespace

std::optional<std::vector<std::string>> arrow_texts(const Document& document, const Value& value) {
  if (class_name(value) != "ArrowStringArray") return std::nullopt;
  const Ref array = attribute(value, "_pa_array");
  if (!array) return std::nullopt;
  std::vector<std::string> texts;
  const auto chunked = arguments_of(*array, "chunked_array");
  if (chunked.empty()) {
    add_texts(document, *array, texts);
  } else {
    for (const Ref chunk : items_of(*chunked[0])) add_texts(document, *chunk, texts);
  }
  return texts;
}

}  // namespace ingot::formats::pickle
