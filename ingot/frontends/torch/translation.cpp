// Tensors that code may change, in a graph where nothing changes.
#include "ingot/frontends/torch/translation.h"

#include <fmt/format.h>

#include "ingot/base/budget.h"
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/torch/complex.h"
#include "ingot/frontends/torch/operator_table.h"
#include "ingot/frontends/torch/quantized.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::torch {
namespace {

constexpr int kFarthestInput = 64;  // how many nodes are looked through
constexpr std::size_t kMostWork = 100'000'000;

const Item& part_of(const Item& result, std::size_t part) {
  if (const Tuple* tuple = result.get<Tuple>()) return tuple->items->at(part);
  if (const ListRef* list = result.get<ListRef>()) return (*list)->items.at(part);
  return result;
}

/// The results that are tensors of their own share the storage of the call's first argument.
void mark_views(const Item& result, const std::shared_ptr<const Call>& call, const TensorRef& base, Value* seen) {
  const auto mark = [&](const Item& item, std::size_t part) {
    const TensorRef* cell = item.get<TensorRef>();
    if (!cell || *cell == base || (*cell)->base) return;
    (*cell)->base = base;
    (*cell)->view = call;
    (*cell)->part = part;
    (*cell)->seen = seen;
  };
  mark(result, 0);
  const std::vector<Item>* parts = nullptr;
  if (const Tuple* tuple = result.get<Tuple>()) parts = tuple->items.get();
  if (const ListRef* list = result.get<ListRef>()) parts = &(*list)->items;
  for (std::size_t i = 0; parts && i < parts->size(); ++i) mark((*parts)[i], i);
}

bool ends_work(const Error& error) {
  const int code = static_cast<int>(error.code());
  return error.exit_code() == 70 || (code > 1200 && code < 1300);
}

}  // namespace

Translation::Translation(Graph& main, const std::vector<std::string>& allow_custom, Budget* budget)
    : main_(main), custom_(allow_custom, kCustomDomain), budget_(budget) {
  builders_.push_back(std::make_unique<GraphBuilder>(main));
}

void Translation::spend(std::size_t amount) {
  spent_ += amount;
  if (spent_ > kMostWork) throw Error(Code::node_limit, "the archive's code does too much before anything runs");
}

void Translation::hold(const Item& item) {
  if (is_changeable(item)) spend(kMostWork / 5'000);
}

bool Translation::has_unknown(const std::vector<Item>& items) {
  spend(items.size());
  for (const Item& item : items) {
    if (item.is_unknown()) return true;
    if (const ListRef* list = item.get<ListRef>(); list && has_unknown((*list)->items)) return true;
    if (const Tuple* tuple = item.get<Tuple>(); tuple && has_unknown(*tuple->items)) return true;
  }
  return false;
}

void Translation::name_after(const std::string& scope, const std::string& op) {
  scope_ = scope;
  op_ = op;
  g().name_after(scope.empty() ? "value" : scope);
  Metadata metadata{{std::string(kSource), scope}};
  if (!op.empty()) metadata.emplace_back(std::string(kSourceOp), "aten::" + op);
  g().set_metadata(std::move(metadata));
}

bool Translation::is_visible(const Value* value) {
  for (const Graph* graph = &g().graph(); graph; graph = graph->parent())
    if (graph == &value->graph()) return true;
  return false;
}

Value* Translation::read(const TensorRef& tensor) {
  if (!tensor->base) return tensor->value;
  Value* base = read(tensor->base);
  if (base == tensor->seen && is_visible(tensor->value)) return tensor->value;
  Call again = *tensor->view;
  again.args[0] = tensor->base;
  const Item result = again.row.translate(again);
  const TensorRef* made = part_of(result, tensor->part).get<TensorRef>();
  Value* now = read(*made);
  // A branch or a round may be taken back, and its graph with it: what was made there is not for others to find.
  if (builders_.size() > 1) return now;
  tensor->value = now;
  tensor->seen = base;
  return now;
}

void Translation::write(const TensorRef& tensor, Value* value) {
  if (!tensor->base) {
    journal.changing({tensor});
    tensor->value = value;
    return;
  }
  // Where the view's elements lie in its base is what the view makes of the base's numbers.
  Value* base = read(tensor->base);
  value = g().cast(value, base->type.elem);
  Value* shape = g().shape(base);
  Value* numbers = g().op("Range", {g().index(0), g().op("Size", {base}), g().index(1)});
  Call again = *tensor->view;
  again.args[0] = Item(g().op("Reshape", {numbers, shape}));
  const Item result = again.row.translate(again);
  const TensorRef* made = part_of(result, tensor->part).get<TensorRef>();
  Value* places = read(*made);
  Value* spread = g().op("Expand", {value, g().shape(places)});
  Value* changed =
      g().op("ScatterElements", {g().reshape(base, {-1}), g().reshape(places, {-1}), g().reshape(spread, {-1})});
  write(tensor->base, g().op("Reshape", {changed, shape}));
  tensor->seen = nullptr;
  if (builders_.size() > 1) return;
  tensor->value = spread;
  tensor->seen = read(tensor->base);
}

Value* Translation::value_of(const Item& number, DType elem) {
  if (const auto* v = number.get<bool>()) return g().constant(Tensor::scalar(*v));
  if (const auto* v = number.get<std::int64_t>()) return g().index(*v);
  if (const auto* v = number.get<double>()) return g().scalar(*v, elem);
  if (const auto* v = number.get<Scalar>()) return v->value;
  refuse(fmt::format("a {} is no number", kind_text(number)));
}

Item Translation::number_of(Value* scalar) {
  const DType elem = scalar->type.elem;
  if (const auto known = ingot::known_ints(scalar); known && known->size() == 1) {
    if (elem == DType::boolean) return known->front() != 0;
    return known->front();
  }
  if (const Tensor* constant = ops::constant_of(scalar); constant && constant->size() == 1 && is_float(elem))
    return constant->to_doubles().front();
  if (rank_of(scalar) != 0) scalar = g().reshape(scalar, {});
  if (is_integer(elem) && elem != DType::i64) scalar = g().cast(scalar, DType::i64);
  return Scalar{scalar};
}

const Value* Translation::assumed_source(Value* value) const {
  for (int i = 0; i < kFarthestInput && value; ++i) {
    if (std::ranges::find(assumed_, value) != assumed_.end()) return value;
    const Node* node = value->producer();
    if (!node || node->input_count() == 0) return nullptr;
    // Of operations with a number the tensor is the other operand.
    value = node->input_count() == 2 && rank_of(node->input(0)) == 0 ? node->input(1) : node->input(0);
  }
  return nullptr;
}

void Translation::demand_shape(Value* value, const Shape& shape, bool is_guess) {
  const Value* input = assumed_source(value);
  if (!input || input->type.shape) return;
  throw Demand{.input = input->name(), .shape = shape, .is_guess = is_guess};
}

void Translation::demand_dtype(Value* value, DType dtype) {
  const Value* input = assumed_source(value);
  if (input && std::ranges::count(untyped_, input) && value->type.elem == input->type.elem && input->type.elem != dtype)
    throw Demand{.input = input->name(), .dtype = dtype};
}

Item Translation::custom(const Call& call, std::string_view name, const std::string& domain) {
  Values inputs;
  Attrs attrs;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const Item& item = call.args[i];
    const std::string key = fmt::format("arg{}", i);
    if (item.is_tensor() || item.is<Scalar>())
      inputs.push_back(call.tensor(i));
    else if (const auto* v = item.get<std::int64_t>())
      attrs.emplace_back(key, *v);
    else if (const auto* b = item.get<bool>())
      attrs.emplace_back(key, *b);
    else if (const auto* r = item.get<double>())
      attrs.emplace_back(key, *r);
    else if (const auto* s = item.get<std::string>())
      attrs.emplace_back(key, *s);
    else if (item.is<ListRef>())
      attrs.emplace_back(key, call.ints(i));
  }
  return g().node(name, domain, inputs, attrs, 1)->output();
}

Item Translation::translate(const Call& call, std::string_view name) {
  if (const auto domain = custom_.domain_of(name)) {
    notes.add(fmt::format("'{}' stays as a custom operator of domain '{}'", name, *domain));
    return custom(call, name, *domain);
  }
  const TensorRef* base = call.args.empty() ? nullptr : call.args[0].get<TensorRef>();
  const bool is_of_pairs = has_complex(call.args);
  const std::optional<Call> pairs = is_of_pairs ? call_of_pairs(call) : std::nullopt;
  if (is_of_pairs && !pairs) return translate_complex(call);
  const Call& done = pairs ? *pairs : call;
  Item result = requantized(done, done.row.translate(done));
  if (done.row.guard.is_view && base) mark_views(result, std::make_shared<const Call>(done), *base, read(*base));
  if (pairs) mark_complex(result);
  return result;
}

Item Translation::call(std::string_view name, std::vector<Item> args,
                       const std::vector<std::pair<std::string, Item>>& named) {
  if (budget_) {
    budget_->poll();
    budget_->charge_nodes(1);
  }
  const bool is_in_place = name.size() > 1 && name.ends_with('_') && !name.ends_with("__") && !find_row(name);
  const std::string_view plain = is_in_place ? name.substr(0, name.size() - 1) : name;
  name_after(scope_, std::string(plain));
  try {
    if (named.empty())
      if (std::optional<Item> made = python_call(*this, name, args)) return std::move(*made);
    if (has_unknown(args)) return Unknown{};  // what made it so has been told
    static const Row kCustomRow{"custom", nullptr, {}};
    const Row* row = find_row(plain);
    if (!row && custom_.domain_of(plain)) row = &kCustomRow;
    if (!row) {
      problems.add(scope_, "aten::" + std::string(name), "there is no translation for this operator",
                   Code::unsupported_operator);
      return Unknown{};
    }
    Call call{*this, *row, row == &kCustomRow ? std::move(args) : bound_arguments(*row, std::move(args), named)};
    Item result = translate(call, plain);
    if (!is_in_place) return result;
    const TensorRef* self = call.args.empty() ? nullptr : call.args[0].get<TensorRef>();
    const TensorRef* made = result.get<TensorRef>();
    if (!self || !made) refuse("the operator changes what is no tensor");
    if (*made != *self) write(*self, g().cast(read(*made), read(*self)->type.elem));
    return call.args[0];
  } catch (const Error& error) {
    if (ends_work(error)) throw;
    problems.add(scope_, "aten::" + std::string(name), error);
    return Unknown{};
  }
}

}  // namespace ingot::frontends::torch
