// Lookup tables: what fills them, and how keys are looked up.
#include "ingot/frontends/tensorflow/lookup_tables.h"

#include <charconv>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/constants.h"
#include "ingot/frontends/tensorflow/translation.h"
#include "ingot/ops/schema.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr int kMostNested = 16;
constexpr std::size_t kMostLines = 50'000'000;

/// A node of the main graph, or nothing.
using Bound = std::vector<std::int32_t>;

const tf::TensorProto* constant_value(const tf::NodeDef& node) {
  const tf::AttrValue* attr = node.op == "Const" ? node.find("value") : nullptr;
  const auto* tensor = attr ? std::get_if<std::shared_ptr<const tf::TensorProto>>(attr) : nullptr;
  return tensor ? tensor->get() : nullptr;
}

template <class T> T attr_or(const tf::NodeDef& node, std::string_view name, T fallback) {
  const tf::AttrValue* attr = node.find(name);
  const T* value = attr ? std::get_if<T>(attr) : nullptr;
  return value ? *value : fallback;
}

template <class T> Tensor numbers_of(const std::vector<std::string>& texts) {
  std::vector<T> values(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto [end, error] = std::from_chars(texts[i].data(), texts[i].data() + texts[i].size(), values[i]);
    if (error != std::errc()) throw Error(Code::bad_source_graph, "'" + texts[i] + "' in a vocabulary is no number");
  }
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}

Tensor column_of(std::vector<std::string> texts, DType t) {
  const auto count = static_cast<std::int64_t>(texts.size());
  switch (t) {
    case DType::string:
      return Tensor::of_strings({count}, std::move(texts));
    case DType::i64:
      return numbers_of<std::int64_t>(texts);
    case DType::i32:
      return numbers_of<std::int32_t>(texts);
    case DType::f32:
      return numbers_of<float>(texts);
    case DType::f64:
      return numbers_of<double>(texts);
    default:
      throw Error(Code::unsupported_setting, "a table of " + std::string(name_of(t)) + " from a text file");
  }
}

/// The columns of a text file: -2 is the whole line, -1 its number.
LookupTable from_text(const tf::NodeDef& node, std::string_view text, DType keys, DType values) {
  const std::int64_t key = attr_or<std::int64_t>(node, "key_index", -2);
  const std::int64_t value = attr_or<std::int64_t>(node, "value_index", -1);
  const std::int64_t most = attr_or<std::int64_t>(node, "vocab_size", -1);
  const std::string delimiter = attr_or<std::string>(node, "delimiter", "\t");
  std::int64_t first = attr_or<std::int64_t>(node, "offset", 0);
  std::vector<std::string> columns[2];
  std::int64_t line_number = 0;
  while (!text.empty() && (most < 0 || line_number < most)) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::int64_t number = line_number++;
    if (first > 0) {
      --first;
      --line_number;
      continue;
    }
    if (static_cast<std::size_t>(line_number) > kMostLines) throw Error(Code::memory_limit, "a vocabulary is too long");
    const auto part = [&](std::int64_t which) -> std::string {
      if (which == -2) return std::string(line);
      if (which == -1) return std::to_string(number);
      std::string_view rest = line;
      for (std::int64_t i = 0; i < which; ++i) {
        const std::size_t at = delimiter.empty() ? rest.npos : rest.find(delimiter);
        if (at == rest.npos) throw Error(Code::bad_source_graph, "a line of a vocabulary has too few columns");
        rest.remove_prefix(at + delimiter.size());
      }
      return std::string(rest.substr(0, delimiter.empty() ? rest.npos : rest.find(delimiter)));
    };
    columns[0].push_back(part(key));
    columns[1].push_back(part(value));
  }
  return {column_of(std::move(columns[0]), keys), column_of(std::move(columns[1]), values), std::nullopt};
}

class Filling {
 public:
  Filling(Bodies& bodies, const ModelFiles& files, Budget& budget)
      : bodies_(bodies), files_(files), budget_(budget), graph_(bodies.main()) {}

  std::map<std::string, LookupTable> all() {
    visit(graph_, {}, 0);
    return std::move(tables_);
  }

 private:
  /// The node of the main graph behind a source; -1: there is none.
  std::int32_t origin(const Body& body, const Bound& arguments, Source source) const {
    source = body.behind_identities(source);
    if (source.node < 0)
      return static_cast<std::size_t>(source.port) < arguments.size() ? arguments[static_cast<std::size_t>(source.port)]
                                                                      : -1;
    return &body == &graph_ ? source.node : -1;
  }

  /// A constant, in the main graph or in the function itself.
  std::optional<Tensor> tensor(const Body& body, const Bound& arguments, Source source) const {
    source = body.behind_identities(source);
    const tf::NodeDef* node = nullptr;
    if (source.node >= 0) {
      node = &body.node(source.node);
    } else if (const std::int32_t at = origin(body, arguments, source); at >= 0) {
      node = &graph_.node(at);
    }
    const tf::TensorProto* proto = node ? constant_value(*node) : nullptr;
    if (!proto) return std::nullopt;
    return to_tensor(*proto, budget_);
  }

  std::string name_of_source(const Body& body, const Bound& arguments, Source source) const {
    source = body.behind_identities(source);
    if (source.node >= 0) return body.node(source.node).name;
    const std::int32_t at = origin(body, arguments, source);
    return at >= 0 ? graph_.node(at).name : "";
  }

  void fill(const Body& body, const Bound& arguments, std::int32_t i) {
    const tf::NodeDef& node = body.node(i);
    const auto inputs = body.inputs(i);
    if (inputs.size() < 2) return;
    const std::int32_t table = origin(body, arguments, inputs[0]);
    if (table < 0) return;
    const tf::NodeDef& owner = graph_.node(table);
    if (node.op.starts_with("InitializeTableFromTextFile")) {
      if (!files_.asset) return;
      auto text = files_.asset(name_of_source(body, arguments, inputs[1]));
      if (!text) {
        const auto path = tensor(body, arguments, inputs[1]);
        if (!path || path->dtype() != DType::string || path->size() != 1) return;
        const std::string& full = path->strings()[0];
        text = files_.asset(full.substr(full.rfind('/') + 1));
      }
      if (!text) return;
      const DType keys = tf::dtype_of(attr_or(owner, "key_dtype", tf::DataType::string));
      const DType values = tf::dtype_of(attr_or(owner, "value_dtype", tf::DataType::i64));
      tables_.insert_or_assign(owner.name, from_text(node, text->text(), keys, values));
      return;
    }
    if (inputs.size() < 3) return;
    auto keys = tensor(body, arguments, inputs[1]);
    auto values = tensor(body, arguments, inputs[2]);
    if (keys && values && keys->size() > 0)
      tables_.insert_or_assign(owner.name, LookupTable{std::move(*keys), std::move(*values), std::nullopt});
  }

  void visit(const Body& body, const Bound& arguments, int depth) {
    if (depth > kMostNested) return;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(body.size()); ++i) {
      const tf::NodeDef& node = body.node(i);
      if (node.op.starts_with("InitializeTable") || node.op.starts_with("LookupTableImport")) fill(body, arguments, i);
      const tf::AttrValue* attr = node.op.ends_with("PartitionedCall") ? node.find("f") : nullptr;
      const auto* name = attr ? std::get_if<std::shared_ptr<const tf::FunctionName>>(attr) : nullptr;
      const tf::FunctionDef* function = name ? bodies_.find_function((*name)->name) : nullptr;
      if (!function || !fills(*function, depth + 1)) continue;
      Bound inner;
      for (const Source& s : body.inputs(i)) inner.push_back(origin(body, arguments, s));
      visit(bodies_.body_of(*function), inner, depth + 1);
    }
  }

  /// Whether a function fills a table, itself or through others.
  bool fills(const tf::FunctionDef& function, int depth) {
    if (const auto known = fills_.find(&function); known != fills_.end()) return known->second;
    fills_[&function] = false;
    bool found = false;
    for (const tf::NodeDef& node : function.nodes) {
      found |= node.op.starts_with("InitializeTable") || node.op.starts_with("LookupTableImport");
      const tf::AttrValue* attr = node.op.ends_with("PartitionedCall") ? node.find("f") : nullptr;
      const auto* name = attr ? std::get_if<std::shared_ptr<const tf::FunctionName>>(attr) : nullptr;
      const tf::FunctionDef* inner = name ? bodies_.find_function((*name)->name) : nullptr;
      if (inner && depth < kMostNested) found |= fills(*inner, depth + 1);
    }
    return fills_[&function] = found;
  }

  Bodies& bodies_;
  const ModelFiles& files_;
  Budget& budget_;
  const Body& graph_;
  std::map<std::string, LookupTable> tables_;
  std::map<const tf::FunctionDef*, bool> fills_;
};

const LookupTable& table_of(const TfNode& n, std::size_t i) {
  const Operand& o = n.operand(i);
  if (!o.resource || o.resource->kind != Resource::Kind::table) n.unsupported("the handle is not that of a table");
  const LookupTable* table = n.translation().lookup_tables().find(o.resource->name);
  if (!table) n.unsupported("what table '" + o.resource->name + "' holds is not known");
  return *table;
}

/// As one of the lists that the operator takes; false: there is none for the type.
bool append_keys(Attrs& attrs, const Tensor& keys) {
  if (keys.dtype() == DType::string) {
    attrs.emplace_back("keys_strings", std::vector<std::string>(keys.strings().begin(), keys.strings().end()));
  } else if (keys.dtype() == DType::f32) {
    attrs.emplace_back("keys_floats", keys.to_vector<float>());
  } else if (is_integer(keys.dtype())) {
    attrs.emplace_back("keys_int64s", keys.to_ints());
  } else {
    return false;
  }
  return true;
}

}  // namespace

const LookupTable* LookupTables::find(const std::string& name) {
  if (!tables_) tables_ = Filling(bodies_, files_, budget_).all();
  const auto found = tables_->find(name);
  return found == tables_->end() ? nullptr : &found->second;
}

Operands hash_table(const TfNode& n, GraphBuilder&) {
  auto resource = std::make_shared<Resource>();
  resource->kind = Resource::Kind::table;
  resource->name = n.scope().prefix + n.name();
  resource->shared_name = n.text("shared_name", "");
  return {{nullptr, std::move(resource)}};
}

Operands lookup_table_find(const TfNode& n, GraphBuilder& g) {
  // The place of each key, then the value at the place, or the default.
  const LookupTable& table = table_of(n, 0);
  Value* keys = n.input(1);
  if (is_integer(keys->type.elem)) keys = g.cast(keys, DType::i64);
  Attrs attrs;
  if (!append_keys(attrs, table.keys)) n.unsupported("keys of " + std::string(name_of(table.keys.dtype())));
  std::vector<std::int64_t> places(static_cast<std::size_t>(table.keys.size()));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  attrs.emplace_back("values_int64s", std::move(places));
  attrs.emplace_back("default_int64", -1);
  n.translation().use_domain("ai.onnx.ml");
  Value* at = g.op("LabelEncoder", {keys}, attrs);
  Value* values = g.constant(table.values);
  Value* found = g.op("Gather", {values, g.op("Max", {at, g.index(0)})}, {{"axis", 0}});
  Value* is_missing = g.op("Less", {at, g.index(0)});
  for (std::int64_t axis = 1; axis < table.values.rank(); ++axis) is_missing = g.unsqueeze(is_missing, {-1});
  return {{g.where(is_missing, n.input(2), found)}};
}

Operands lookup_table_size(const TfNode& n, GraphBuilder& g) {
  return {{g.scalar(static_cast<double>(table_of(n, 0).keys.size()), DType::i64)}};
}

Operands lookup_table_export(const TfNode& n, GraphBuilder& g) {
  const LookupTable& table = table_of(n, 0);
  Value* keys = g.constant(table.keys);
  return {{keys}, {g.constant(table.values)}};
}

}  // namespace ingot::frontends::tensorflow
