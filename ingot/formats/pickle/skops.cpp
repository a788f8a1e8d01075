// skops files: an archive of arrays, and a tree in JSON of the objects that they belong to.
#include "ingot/formats/pickle/skops.h"

#include <unordered_map>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/json/document.h"
#include "ingot/formats/pickle/npy_array.h"
#include "ingot/formats/zip/archive.h"

namespace ingot::formats::pickle {
namespace {

constexpr std::string_view kSchema = "schema.json";
constexpr int kMostNested = 200;

[[noreturn]] void refuse_file(const std::string& what) { throw Error(Code::bad_pickle, "the skops file " + what); }

class Builder {
 public:
  Builder(const Bytes& file, const std::shared_ptr<Arena>& arena, Budget* budget)
      : archive_(file), arena_(*arena), budget_(budget) {}

  Ref root() {
    const zip::Member* schema = archive_.find(kSchema);
    if (!schema) refuse_file("has no schema.json");
    const Bytes text = archive_.read(*schema, budget_);
    return node(json::parse(text.text(), budget_), 0);
  }

 private:
  Bytes member(const json::Value& node) {
    const zip::Member* found = archive_.find(node["file"].text());
    if (!found) refuse_file("lacks its part '" + std::string(node["file"].text()) + "'");
    Bytes bytes = archive_.read(*found, budget_);
    arena_.keep(bytes);
    return bytes;
  }

  Value& filled(Kind kind, std::vector<Ref> items) {
    Value& made = arena_.make(kind);
    made.items = std::move(items);
    arena_.grew(0, made.items.size());
    return made;
  }
  Ref symbol(const json::Value& node) {
    return &arena_.make_global(node["__module__"].text(), node["__class__"].text());
  }
  Value& instance(const json::Value& node, Ref args, Ref state = nullptr) {
    Value& made = arena_.make_object(symbol(node), args);
    if (state) made.object->states.push_back(state);
    return made;
  }
  Ref nothing() { return &filled(Kind::tuple, {}); }

  /// null, a truth value, a number or a text.
  Ref plain(const json::Value& value) {
    if (value.is_null()) return arena_.none();
    if (value.is_bool()) return arena_.boolean(*value.as_bool());
    if (value.is_integer()) return &arena_.make_integer(*value.as_int());
    if (value.is_number()) return &arena_.make_real(*value.as_number());
    if (value.is_text()) return &arena_.make_text(std::string(value.text()));
    refuse_file("has something else where a number or a text should be");
  }

  std::vector<Ref> nodes(const json::Value& list, int depth) {
    std::vector<Ref> made;
    for (const json::Value& one : list.entries()) made.push_back(node(one, depth + 1));
    return made;
  }

  /// A key, which JSON knows as text only, in the type that it had.
  Ref key(std::string_view text, std::string_view type) {
    const bool is_whole = type.starts_with("int") || type.starts_with("uint");
    if (is_whole || type.starts_with("float") || type == "bool")
      if (const json::Value number = json::parse(text); number.is_number())
        return is_whole && number.as_int() ? &arena_.make_integer(*number.as_int())
                                           : &arena_.make_real(*number.as_number());
    return &arena_.make_text(std::string(text));
  }

  Ref dict(const json::Value& node, int depth) {
    std::vector<Ref> items;
    const std::vector<json::Value> types = node["key_types"]["content"].entries();
    std::size_t i = 0;
    for (const auto& [name, value] : node["content"].members()) {
      items.push_back(key(name, i < types.size() ? types[i]["__class__"].text() : std::string_view()));
      ++i;
      items.push_back(this->node(value, depth + 1));
    }
    return &filled(Kind::dict, std::move(items));
  }

  /// The elements of an array of objects, which is nested once for each dimension.
  void flatten(const json::Value& list, std::size_t rank, std::vector<Ref>& into, int depth) {
    if (depth > kMostNested) refuse_file("is nested too deeply");
    for (const json::Value& one : list.entries()) {
      if (rank > 1)
        flatten(one["content"], rank - 1, into, depth + 1);
      else
        into.push_back(node(one, depth + 1));
    }
  }

  Ref array(const json::Value& node, int depth) {
    if (node["type"].text() == "numpy") {
      const Bytes file = member(node);
      return node["__class__"].text() == "ndarray" ? npy_array(arena_, file) : npy_scalar(arena_, file);
    }
    const Ref shape = this->node(node["shape"], depth + 1);
    std::vector<Ref> objects;
    flatten(node["content"], std::max<std::size_t>(1, shape->items.size()), objects, depth);
    return object_array(arena_, shape, &filled(Kind::list, std::move(objects)));
  }

  /// The parts of a sparse matrix lie in an archive of their own.
  Ref sparse(const json::Value& node) {
    const Bytes file = member(node);
    const zip::Archive parts(file);
    std::vector<Ref> state;
    for (const zip::Member& part : parts.members()) {
      if (part.name == "format.npy") continue;
      Bytes bytes = parts.read(part, budget_);
      arena_.keep(bytes);
      const std::string name = part.name.substr(0, part.name.rfind('.'));
      state.push_back(&arena_.make_text(name == "shape" ? "_shape" : name));
      state.push_back(name == "shape" ? npy_tuple(arena_, bytes) : npy_array(arena_, bytes));
    }
    return &instance(node, nothing(), &filled(Kind::dict, std::move(state)));
  }

  Ref node(const json::Value& node, int depth) {
    if (depth > kMostNested) refuse_file("is nested too deeply");
    const auto id = node["__id__"].as_int();
    if (id)
      if (const auto known = made_.find(*id); known != made_.end()) return known->second;
    const Ref made = built(node, depth);
    if (id) made_.emplace(*id, made);
    return made;
  }

  Ref built(const json::Value& node, int depth) {
    const std::string_view loader = node["__loader__"].text(), name = node["__class__"].text();
    const json::Value content = node["content"];
    if (loader == "JsonNode") return plain(json::parse(content.text(), budget_));
    if (loader == "DictNode") return dict(node, depth);
    if (loader == "DefaultDictNode") return this->node(content["main"], depth + 1);
    if (loader == "ListNode") return &filled(Kind::list, nodes(content, depth));
    if (loader == "SetNode") return &filled(Kind::set, nodes(content, depth));
    if (loader == "TupleNode") {
      Value& items = filled(Kind::tuple, nodes(content, depth));
      return name == "tuple" ? &items : &instance(node, &items);  // one whose entries have names
    }
    if (loader == "FunctionNode" || loader == "TypeNode") return symbol(node);
    if (loader == "SliceNode")
      return &instance(node,
                       &filled(Kind::tuple, {plain(content["start"]), plain(content["stop"]), plain(content["step"])}));
    if (loader == "NdArrayNode") return array(node, depth);
    if (loader == "MaskedArrayNode") return this->node(content["data"], depth + 1);
    if (loader == "SparseMatrixNode") return sparse(node);
    if (loader == "BytesNode" || loader == "BytearrayNode") return &arena_.make_view(member(node).text(), Kind::bytes);
    if (loader == "ConstructorFromReduceNode") return &instance(node, this->node(content, depth + 1));
    if (node["__reduce__"].exists()) {
      const Ref args = this->node(node["__reduce__"]["args"], depth + 1);
      return &instance(node, args, content["__loader__"].exists() ? this->node(content, depth + 1) : nullptr);
    }
    if (loader == "ObjectNode")
      return &instance(node, nothing(), content["__loader__"].exists() ? this->node(content, depth + 1) : nullptr);
    // Generators of random numbers, partial functions, methods: known by their names alone.
    return &instance(node, nothing());
  }

  zip::Archive archive_;
  Arena& arena_;
  Budget* budget_;
  std::unordered_map<std::int64_t, Ref> made_;
};

}  // namespace

bool looks_like_skops(const Bytes& file) {
  if (!zip::looks_like_zip(file)) return false;
  try {
    return zip::Archive(file).find(kSchema) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

Document read_skops(const Bytes& file, Budget* budget) {
  Document document;
  document.arena = std::make_shared<Arena>(budget ? *budget : Budget::unlimited());
  document.root = Builder(file, document.arena, budget).root();
  return document;
}

}  // namespace ingot::formats::pickle
