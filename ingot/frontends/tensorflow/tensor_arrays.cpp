// TensorArray and TensorList: a tensor of all elements where they have one known shape, else a sequence.
#include <algorithm>
#include <limits>

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/control_flow.h"
#include "ingot/frontends/tensorflow/translation.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr double kGrows = 1;  // the handle of an array of dynamic size

bool is_list(const Value* v) { return v->type.is_sequence(); }

Value* position(GraphBuilder& g, Value* index) {
  Value* at = as_int64(g, index);
  return rank_of(at) == 0 ? at : g.op("Reshape", {at, g.ints({})});
}

/// `count` elements that are all zeros of a shape, or, when the shape is not known, empty places.
Value* made(GraphBuilder& g, Value* count, DType elem, const std::optional<std::vector<std::int64_t>>& shape) {
  Value* n = as_int64_vector(g, count);
  if (shape) {
    Value* dims = shape->empty() ? n : g.concat({n, g.ints(*shape)}, 0);
    return g.op("Expand", {g.scalar(0, elem), dims});
  }
  Value* places = g.op("Expand", {g.scalar(0, elem), g.concat({n, g.ints({0})}, 0)});
  Value* list = g.op("SplitToSequence", {places}, {{"axis", 0}, {"keepdims", 1}});
  list->type = Type::sequence(Type::tensor(elem));
  return list;
}

std::optional<std::int64_t> constant_place(const Value* index) {
  const auto place = known_ints(index);
  return place && place->size() == 1 ? std::optional(place->front()) : std::nullopt;
}

/// What a sequence holds at each place, where only constant places were written; null: nothing. Not known in loops.
std::optional<Values> known_items(const Value* list) {
  std::vector<std::pair<std::int64_t, Value*>> writes;
  constexpr std::size_t kMost = 1000;
  while (const Node* insert = list->producer()) {
    if (writes.size() > kMost) return std::nullopt;
    if (insert->is("SplitToSequence")) {
      const auto count = dim_of(insert->input(0), 0);
      const Node* places = insert->input(0)->producer();
      if (!count || *count > static_cast<std::int64_t>(kMost) || !places || !places->is("Expand")) return std::nullopt;
      Values items(static_cast<std::size_t>(*count), nullptr);
      for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
        if (write->first < 0 || write->first >= *count) return std::nullopt;
        items[static_cast<std::size_t>(write->first)] = write->second;
      }
      return items;
    }
    const Node* erase = insert->is("SequenceInsert") ? insert->input(0)->producer() : nullptr;
    const auto place = erase && erase->is("SequenceErase") ? constant_place(insert->input(2)) : std::nullopt;
    if (!place || constant_place(erase->input(1)) != place) return std::nullopt;
    writes.emplace_back(*place, insert->input(1));
    list = erase->input(0);
  }
  return std::nullopt;
}

/// All of them, if all are there.
std::optional<Values> all_items(const Value* list) {
  auto items = is_list(list) ? known_items(list) : std::nullopt;
  return items && !items->empty() && std::ranges::count(*items, nullptr) == 0 ? items : std::nullopt;
}

Value* joined(GraphBuilder& g, const Values& items) { return items.size() == 1 ? items[0] : g.concat(items, 0); }

Value* read(GraphBuilder& g, Value* list, Value* index) {
  const auto place = constant_place(index);
  if (const auto items = is_list(list) && place ? known_items(list) : std::nullopt)
    if (*place >= 0 && *place < static_cast<std::int64_t>(items->size()) && (*items)[static_cast<std::size_t>(*place)])
      return (*items)[static_cast<std::size_t>(*place)];
  Value* at = position(g, index);
  return is_list(list) ? g.op("SequenceAt", {list, at}) : g.op("Gather", {list, at}, {{"axis", 0}});
}

Value* written(GraphBuilder& g, Value* list, Value* index, Value* item) {
  Value* at = position(g, index);
  if (is_list(list)) {
    Value* without = g.op("SequenceErase", {list, at});
    Value* with = g.op("SequenceInsert", {without, item, at});
    with->type = Type::sequence(Type::tensor(item->type.elem));
    return with;
  }
  Value* place = g.reshape(at, {1, 1});
  return g.op("ScatterND", {list, place, g.unsqueeze(item, {0})});
}

/// A tensor of elements with as many that the one at `last` is among them.
Value* grown(GraphBuilder& g, Value* list, Value* last) {
  Value* now = g.op("Gather", {g.shape(list), g.index(0)});
  Value* more = g.op("Max", {g.sub(g.add(last, g.index(1)), now), g.index(0)});
  Value* pads = g.concat({g.ints({0}), g.unsqueeze(more, {0})}, 0);
  return g.op("Pad", {list, pads, nullptr, g.ints({0})});
}

/// Whether the array may have to grow: its handle says that it does, or is not known here.
bool grows(const TfNode& n) {
  const Tensor* handle = n.constant(0);
  return !handle || (handle->size() == 1 && handle->to_doubles().front() == kGrows);
}

/// The same where the list grows as far as it is written.
Value* written_and_grown(const TfNode& n, GraphBuilder& g, Value* list, Value* index, Value* item) {
  Value* at = position(g, index);
  if (!is_list(list)) {
    if (!rank_of(list)) n.unsupported("the rank of the elements must be known");
    return written(g, grown(g, list, at), index, item);
  }
  Value* now = g.op("SequenceLength", {list});
  const DType elem = item->type.elem;
  const Step inside = [&](Graph& graph, const Operands&) -> Operands {
    GraphBuilder b(graph);
    return {{written(b, list, index, item)}};
  };
  const Step beyond = [&](Graph& graph, const Operands&) -> Operands {
    GraphBuilder b(graph);
    const Values longer =
        repeat(b, b.sub(at, now), {list}, [&](GraphBuilder& r, Value*, const Values& state) -> Values {
          Value* hole = r.op("Expand", {r.scalar(0, elem), r.ints({0})});
          Value* next = r.op("SequenceInsert", {state[0], hole});
          next->type = Type::sequence(Type::tensor(elem));
          return {next};
        });
    Value* with = b.op("SequenceInsert", {longer[0], item});
    with->type = Type::sequence(Type::tensor(elem));
    return {{with}};
  };
  Value* is_inside = g.op("Less", {at, now});
  Value* longer = branch(g, is_inside, inside, beyond).front().value;
  longer->type = Type::sequence(Type::tensor(elem));
  return longer;
}

Value* stacked(GraphBuilder& g, Value* list) {
  if (const auto items = all_items(list)) {
    Values rows;
    for (Value* item : *items) rows.push_back(g.unsqueeze(item, {0}));
    return joined(g, rows);
  }
  return is_list(list) ? g.op("ConcatFromSequence", {list}, {{"axis", 0}, {"new_axis", 1}}) : list;
}

Value* length(GraphBuilder& g, Value* list) {
  if (is_list(list)) return g.op("SequenceLength", {list});
  return g.op("Gather", {g.shape(list), g.index(0)});
}

/// The elements at the indices become the rows; others stay.
Value* scattered(GraphBuilder& g, Value* list, Value* indices, Value* rows) {
  Value* at = as_int64_vector(g, indices);
  if (!is_list(list)) return g.op("ScatterND", {list, g.unsqueeze(at, {1}), rows});
  // All places are written, in their order or another: the rows in the order of the places.
  Value* count = g.op("Gather", {g.shape(at), g.index(0)});
  Value* numbers = g.op("Range", {g.index(0), count, g.index(1)});
  Value* order = g.op("ScatterElements", {at, at, numbers}, {{"axis", 0}});
  Value* sorted = g.op("Gather", {rows, order}, {{"axis", 0}});
  Value* parts = g.op("SplitToSequence", {sorted}, {{"axis", 0}, {"keepdims", 0}});
  Type element = Type::tensor(rows->type.elem);
  if (rows->type.shape && !rows->type.shape->empty())
    element.shape = Shape(rows->type.shape->begin() + 1, rows->type.shape->end());
  parts->type = Type::sequence(std::move(element));
  return parts;
}

std::optional<std::vector<std::int64_t>> full_shape(const tf::TensorShape& shape) {
  if (shape.unknown_rank || std::ranges::any_of(shape.dims, [](std::int64_t d) { return d < 0; })) return std::nullopt;
  return shape.dims;
}

/// The element shape that an operator of a TensorList is given.
std::optional<std::vector<std::int64_t>> element_shape(const TfNode& n, std::size_t i) {
  const auto dims = n.known_ints(i);
  if (!dims || rank_of(n.input(i)) == 0) return std::nullopt;
  if (std::ranges::any_of(*dims, [](std::int64_t d) { return d < 0; })) return std::nullopt;
  return dims;
}

/// An element read from a sequence has lost its shape; what the operator states helps out.
void state_shape(const TfNode& n, std::size_t i, Value* item, bool has_rows = false) {
  if (n.input_count() <= i) return;
  const auto dims = n.known_ints(i);
  if (!dims || rank_of(n.input(i)) != 1) return;
  Shape shape;
  if (has_rows) shape.push_back(Dim());
  for (const std::int64_t d : *dims) shape.push_back(d < 0 ? Dim() : Dim(d));
  const Type type = Type::tensor(item->type.elem, shape);
  if (may_match(item->type, type)) item->type = refine(item->type, type);
}

}  // namespace

// TensorArray: the flow is the list, the handle says whether it grows.

Values tensor_array(const TfNode& n, GraphBuilder& g) {
  const DType elem = n.dtype("dtype", DType::f32);
  auto shape = full_shape(n.shape("element_shape"));
  // A shape of no dimensions may mean a scalar or nothing stated.
  if (shape && shape->empty()) shape = std::nullopt;
  return {g.scalar(n.flag("dynamic_size", false) ? kGrows : 0, DType::f32), made(g, n.input(0), elem, shape)};
}
Values tensor_array_read(const TfNode& n, GraphBuilder& g) { return {read(g, n.input(2), n.input(1))}; }
Values tensor_array_write(const TfNode& n, GraphBuilder& g) {
  if (grows(n)) return {written_and_grown(n, g, n.input(3), n.input(1), n.input(2))};
  return {written(g, n.input(3), n.input(1), n.input(2))};
}
Values tensor_array_gather(const TfNode& n, GraphBuilder& g) {
  Value* rows = stacked(g, n.input(2));
  const tf::TensorShape shape = n.shape("element_shape");
  if (!shape.unknown_rank && !rank_of(rows)) {
    Shape dims = to_shape(shape);
    dims.insert(dims.begin(), Dim());
    rows->type = refine(rows->type, Type::tensor(rows->type.elem, dims));
  }
  return {g.op("Gather", {rows, as_int64_vector(g, n.input(1))}, {{"axis", 0}})};
}
Values tensor_array_scatter(const TfNode& n, GraphBuilder& g) {
  Value* list = n.input(3);
  if (grows(n) && !is_list(list)) {
    Value* last = g.op("ReduceMax", {as_int64_vector(g, n.input(1))}, {{"keepdims", 0}});
    list = grown(g, list, last);
  }
  return {scattered(g, list, n.input(1), n.input(2))};
}
Values tensor_array_size(const TfNode& n, GraphBuilder& g) { return {g.cast(length(g, n.input(1)), DType::i32)}; }
/// All elements one behind the other, and how many rows each has.
Values concatenated(GraphBuilder& g, Value* list) {
  if (const auto items = all_items(list)) {
    Values sizes;
    for (Value* item : *items) sizes.push_back(g.op("Slice", {g.shape(item), g.ints({0}), g.ints({1})}));
    Value* all = joined(g, *items);
    return {all, joined(g, sizes)};
  }
  if (is_list(list)) {
    Value* joined = g.op("ConcatFromSequence", {list}, {{"axis", 0}, {"new_axis", 0}});
    const Values sizes = repeat(g, g.op("SequenceLength", {list}), {}, [&](GraphBuilder& b, Value* k, const Values&) {
      return Values{size_of(b, b.op("SequenceAt", {list, k}), 0)};
    });
    return {joined, g.reshape(sizes[0], {-1})};
  }
  Value* dims = g.shape(list);
  Value* rest = g.op("Slice", {dims, g.ints({2}), g.ints({std::numeric_limits<std::int64_t>::max()})});
  Value* joined = g.op("Reshape", {list, g.concat({g.ints({-1}), rest}, 0)});
  Value* count = g.op("Slice", {dims, g.ints({0}), g.ints({1})});
  Value* each = g.op("Slice", {dims, g.ints({1}), g.ints({2})});
  return {joined, g.op("Expand", {each, count})};
}
Values tensor_array_concat(const TfNode& n, GraphBuilder& g) { return concatenated(g, n.input(1)); }
Values tensor_array_split(const TfNode& n, GraphBuilder& g) {
  // handle, value, lengths, flow
  Value* parts = g.op("SplitToSequence", {n.input(1), as_int64_vector(g, n.input(2))}, {{"axis", 0}});
  return {parts};
}

// TensorList.

Values tensor_list_reserve(const TfNode& n, GraphBuilder& g) {
  return {made(g, n.input(1), n.dtype("element_dtype", DType::f32), element_shape(n, 0))};
}
Values empty_tensor_list(const TfNode& n, GraphBuilder& g) {
  Value* list = g.op("SequenceEmpty", {}, {{"dtype", n.dtype("element_dtype", DType::f32)}});
  return {list};
}
Values tensor_list_from_tensor(const TfNode& n, GraphBuilder&) { return {n.input(0)}; }
Values tensor_list_stack(const TfNode& n, GraphBuilder& g) {
  Value* rows = stacked(g, n.input(0));
  state_shape(n, 1, rows, true);
  return {rows};
}
Values tensor_list_get_item(const TfNode& n, GraphBuilder& g) {
  Value* item = read(g, n.input(0), n.input(1));
  state_shape(n, 2, item);
  return {item};
}
Values tensor_list_set_item(const TfNode& n, GraphBuilder& g) {
  if (n.flag("resize_if_index_out_of_bounds", false))
    return {written_and_grown(n, g, n.input(0), n.input(1), n.input(2))};
  return {written(g, n.input(0), n.input(1), n.input(2))};
}
Values tensor_list_length(const TfNode& n, GraphBuilder& g) { return {g.cast(length(g, n.input(0)), DType::i32)}; }
Values tensor_list_push_back(const TfNode& n, GraphBuilder& g) {
  if (!is_list(n.input(0))) return {g.concat({n.input(0), g.unsqueeze(n.input(1), {0})}, 0)};
  Value* list = g.op("SequenceInsert", {n.input(0), n.input(1)});
  list->type = Type::sequence(Type::tensor(n.elem(1)));
  return {list};
}
Values tensor_list_pop_back(const TfNode& n, GraphBuilder& g) {
  Value* last = g.index(-1);
  Value* item = read(g, n.input(0), last);
  state_shape(n, 1, item);
  if (is_list(n.input(0))) return {g.op("SequenceErase", {n.input(0), last}), item};
  return {g.op("Slice", {n.input(0), g.ints({0}), g.ints({-1})}), item};
}
Values tensor_list_gather(const TfNode& n, GraphBuilder& g) {
  Value* rows = stacked(g, n.input(0));
  state_shape(n, 2, rows, true);
  return {g.op("Gather", {rows, as_int64_vector(g, n.input(1))}, {{"axis", 0}})};
}
Values tensor_list_scatter(const TfNode& n, GraphBuilder& g) {
  // tensor, indices, element_shape, num_elements
  Value* rows = n.input(0);
  Value* count = g.op("Slice", {g.shape(rows), g.ints({0}), g.ints({1})});
  if (n.input_count() > 3 && n.known_ints(3) && n.need_int(3) >= 0) count = as_int64_vector(g, n.input(3));
  Value* rest = g.op("Slice", {g.shape(rows), g.ints({1}), g.ints({std::numeric_limits<std::int64_t>::max()})});
  Value* zeros = g.op("Expand", {g.scalar(0, rows->type.elem), g.concat({count, rest}, 0)});
  return {scattered(g, zeros, n.input(1), rows)};
}
Values tensor_list_concat(const TfNode& n, GraphBuilder& g) { return concatenated(g, n.input(0)); }
Values tensor_list_split(const TfNode& n, GraphBuilder& g) {
  return {g.op("SplitToSequence", {n.input(0), as_int64_vector(g, n.input(2))}, {{"axis", 0}})};
}
Values tensor_list_resize(const TfNode& n, GraphBuilder& g) {
  if (is_list(n.input(0))) n.unsupported("the elements' shape is not known");
  Value* now = g.op("Slice", {g.shape(n.input(0)), g.ints({0}), g.ints({1})});
  Value* wanted = as_int64_vector(g, n.input(1));
  Value* more = g.op("Max", {g.sub(wanted, now), g.ints({0})});
  std::vector<std::int64_t> others(static_cast<std::size_t>(n.rank(0) - 1), 0);
  Value* before = g.ints(std::vector<std::int64_t>(static_cast<std::size_t>(n.rank(0)), 0));
  Value* pads = others.empty() ? g.concat({before, more}, 0) : g.concat({before, more, g.ints(others)}, 0);
  Value* wide = g.op("Pad", {n.input(0), pads});
  return {g.op("Slice", {wide, g.ints({0}), wanted})};
}

}  // namespace ingot::frontends::tensorflow
