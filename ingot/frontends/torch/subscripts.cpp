// What stands in brackets behind a tensor, list or dictionary: read, and assigned to.
#include "ingot/formats/torch/scalar_type.h"
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/torch/interpreter.h"

namespace ingot::frontends::torch {
namespace {

using script::Expr;

/// How many axes of a tensor an index takes.
std::int64_t axes_taken(Translation& t, const Expr& part, const Item& index) {
  if (part.kind == Expr::Kind::slice) return 1;
  if (part.kind == Expr::Kind::ellipsis || index.is_none()) return 0;
  const TensorRef* tensor = index.get<TensorRef>();
  if (!tensor || t.read(*tensor)->type.elem != DType::boolean) return 1;
  return rank_of(t.read(*tensor)).value_or(1);
}

}  // namespace

/// The view that numbers, slices and None make, and the tensors that pick of it, with None for axes left alone.
Interpreter::Picked Interpreter::picked(const Item& base, const Expr& index, Frame& frame) {
  std::vector<const Expr*> parts;
  if (index.kind == Expr::Kind::tuple)
    for (const script::ExprPtr& part : index.parts) parts.push_back(part.get());
  else
    parts.push_back(&index);
  std::vector<Item> indices;
  std::int64_t taken = 0;
  for (const Expr* part : parts) {
    const bool is_plain = part->kind != Expr::Kind::slice && part->kind != Expr::Kind::ellipsis;
    Item item = is_plain ? evaluate(*part, frame) : Item();
    if (item.is<ListRef>() || item.is<Tuple>()) item = t_.call("tensor", {item});
    if (const TensorRef* tensor = item.get<TensorRef>(); tensor && rank_of(t_.read(*tensor)) == 0)
      item = converted("int", item);
    taken += axes_taken(t_, *part, item);
    indices.push_back(std::move(item));
  }
  Picked made{.view = base, .by = {}};
  std::int64_t axis = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Expr& part = *parts[i];
    if (part.kind == Expr::Kind::ellipsis) {
      const auto rank = rank_of(t_.read(*base.get<TensorRef>()));
      if (!rank) refuse("'...' stands for as many axes as only the run knows");
      axis += *rank - taken;
    } else if (part.kind == Expr::Kind::slice) {
      std::vector<Item> args{made.view, axis++};
      for (const script::ExprPtr& bound : part.parts) args.push_back(bound ? evaluate(*bound, frame) : Item());
      if (args.back().is_none()) args.back() = 1;
      if (part.parts[0] || part.parts[1] || part.parts[2]) made.view = t_.call("slice", std::move(args));
    } else if (indices[i].is_none()) {
      made.view = t_.call("unsqueeze", {made.view, axis++});
    } else if (indices[i].is_tensor()) {
      made.by.resize(static_cast<std::size_t>(axis) + 1);
      made.by.back() = indices[i];
      axis += axes_taken(t_, part, indices[i]);
    } else {
      made.view = t_.call("select", {made.view, axis, indices[i]});
    }
  }
  return made;
}

Item Interpreter::subscript(const Expr& expr, Frame& frame) {
  const Item base = evaluate(*expr.parts[0], frame);
  const Expr& index = *expr.parts[1];
  if (base.is_unknown()) return Unknown{};
  if (base.is_tensor()) {
    Picked made = picked(base, index, frame);
    return made.by.empty() ? made.view : t_.call("index", {made.view, Item::list(std::move(made.by))});
  }
  if (index.kind != Expr::Kind::slice) return t_.call("__getitem__", {base, evaluate(index, frame)});
  std::vector<Item> args{base};
  for (const script::ExprPtr& part : index.parts) args.push_back(part ? evaluate(*part, frame) : Item());
  const Item made = t_.call("slice", std::move(args));
  if (const ListRef* list = made.get<ListRef>(); list && base.is<Tuple>()) return Item::tuple((*list)->items);
  return made;
}

void Interpreter::assign_at(const Expr& target, const Item& value, Frame& frame) {
  const Item base = evaluate(*target.parts[0], frame);
  if (base.is_unknown()) return;
  if (!base.is_tensor()) {
    (void)t_.call("_set_item", {base, evaluate(*target.parts[1], frame), value});
    return;
  }
  Picked made = picked(base, *target.parts[1], frame);
  if (made.by.empty())
    (void)t_.call(value.is_tensor() ? "copy_" : "fill_", {made.view, value});
  else
    (void)t_.call("index_put_", {made.view, Item::list(std::move(made.by)),
                                 value.is_tensor() ? value : Item(t_.value_of(value, DType::f64))});
}

/// x += 1 changes a tensor in place and gives numbers a new value.
void Interpreter::change(const script::Statement& statement, Frame& frame) {
  const Expr& target = *statement.targets[0];
  const Item before = evaluate(target, frame);
  const Item value = evaluate(*statement.value, frame);
  const bool is_in_place = before.is_tensor() || (before.is<ListRef>() && statement.op == "add");
  const Item after = t_.call(is_in_place ? statement.op + "_" : statement.op, {before, value});
  if (!before.is_tensor() || target.kind == Expr::Kind::subscript) assign(target, after, frame);
}

}  // namespace ingot::frontends::torch
