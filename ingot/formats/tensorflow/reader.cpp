// Whole files: which message a file holds, and reading it.
#include "ingot/formats/tensorflow/reader.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/read_messages.h"
#include "ingot/formats/tensorflow/text.h"

namespace ingot::formats::tensorflow {
namespace {

using protobuf::Reader;
using protobuf::WireType;

bool is_operator_name(std::string_view text) {
  const auto fits = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  return !text.empty() && text.size() < 512 && (fits(text.front()) || text.front() == '_') &&
         std::ranges::all_of(text, [&](char c) {
           return fits(c) || (c >= '0' && c <= '9') || c == '_' || c == '>' || c == '.' || c == '-' || c == '/';
         });
}

bool looks_like_node(Reader r) {
  bool has_name = false, has_op = false;
  while (r.next()) {
    if (r.field() > 7 || r.type() != WireType::length) return false;
    if (r.field() == 1) has_name = !r.text().empty();
    if (r.field() == 2) has_op = is_operator_name(r.text());
  }
  return has_name && has_op;
}

/// Looks at the first node only: the rest is for reading to judge.
bool looks_like_graph(Reader r) {
  while (r.next()) {
    if (r.field() == 1) return r.type() == WireType::length && looks_like_node(r.message());
    if (r.field() == 0 || r.field() > 5) return false;
  }
  return false;
}

bool looks_like_meta_graph(Reader r) {
  bool has_graph = false;
  while (r.next()) {
    if (r.field() > 7 || r.type() != WireType::length) return false;
    if (r.field() == 2) has_graph = looks_like_graph(r.message());
  }
  return has_graph;
}

bool looks_like_saved_model(Reader r) {
  bool has_meta_graph = false;
  while (r.next()) {
    if (r.field() > 2 || (r.type() == WireType::varint) != (r.field() == 1)) return false;
    if (r.field() == 2) has_meta_graph |= looks_like_meta_graph(r.message());
  }
  return has_meta_graph;
}

template <class Test> bool holds(Test test, const Bytes& file) try { return test(Reader(file)); } catch (const Error&) {
  return false;
}

/// The file itself, or the binary form of its text. A text has no zero bytes and begins with a letter or comment.
Bytes binary_of(const Bytes& file, Message message) {
  if (!kind_of_text(file.text())) return file;
  return Bytes::own(binary_of_text(file.text(), message));
}

}  // namespace

std::optional<FileKind> kind_of(const Bytes& file) {
  if (holds(looks_like_graph, file)) return FileKind::graph;
  if (holds(looks_like_saved_model, file)) return FileKind::saved_model;
  if (holds(looks_like_meta_graph, file)) return FileKind::meta_graph;
  return std::nullopt;
}

std::optional<FileKind> kind_of_text(std::string_view text) {
  const std::string field = first_field(text);
  if (field == "node" || field == "library" || field == "versions") return FileKind::graph;
  if (field == "saved_model_schema_version" || field == "meta_graphs") return FileKind::saved_model;
  if (field == "meta_info_def" || field == "graph_def") return FileKind::meta_graph;
  return std::nullopt;
}

GraphDef read_graph(const Bytes& file, Budget& budget) {
  return read_graph(Reader(binary_of(file, Message::graph)), budget);
}

MetaGraph read_meta_graph(const Bytes& file, Budget& budget) {
  return read_meta_graph(Reader(binary_of(file, Message::meta_graph)), budget);
}

SavedModel read_saved_model(const Bytes& file, Budget& budget) {
  SavedModel model;
  for (Reader r(binary_of(file, Message::saved_model)); r.next();) {
    if (r.field() == 1) model.schema_version = r.int64();
    if (r.field() == 2) model.meta_graphs.push_back(read_meta_graph(r.message(), budget));
  }
  if (model.schema_version != 1)
    throw Error(Code::unsupported_format_version,
                "the SavedModel has version " + std::to_string(model.schema_version) + "; Ingot reads version 1");
  return model;
}

}  // namespace ingot::formats::tensorflow
