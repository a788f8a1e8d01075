// TreeEnsemble as code: tables of branches, and a walk through each tree for each example.
#include <algorithm>
#include <cmath>

#include "ingot/lower/ranked_forest.h"
#include "ingot/lower/rows.h"
#include "ingot/ops/ml/branches.h"

namespace ingot::lower {
namespace {

using ops::Branches;
using Ints = std::vector<std::int64_t>;

enum class Aggregate : std::int64_t { average, sum, min, max };
enum class Transform : std::int64_t { none, softmax, logistic };

/// Where the branches lead: a branch by its number, a leaf by its complement. Refuses what leads nowhere.
Ints leads(Lowering& l, const Branches& trees, const Ints& to, const Ints& is_leaf) {
  Ints places = to;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] < 0 || to[i] >= std::ssize(is_leaf[i] ? trees.targets : trees.modes))
      l.refuse("a branch leads to a node that does not exist");
    if (is_leaf[i]) places[i] = ~to[i];
  }
  return places;
}

/// The number of branches on the longest way; refuses ways that go round in circles.
std::int64_t depth_of(Lowering& l, const Ints& roots, const Ints& yes, const Ints& no) {
  Ints now = roots;
  for (std::int64_t depth = 1; depth <= std::ssize(yes); ++depth) {
    Ints next;
    for (const std::int64_t i : now)
      for (const std::int64_t to : {yes[static_cast<std::size_t>(i)], no[static_cast<std::size_t>(i)]})
        if (to >= 0) next.push_back(to);
    if (next.empty()) return depth;
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    now = std::move(next);
  }
  l.refuse("the nodes form no trees");
}

/// A table that the code reads from.
struct Table {
  View view;
  Expr operator[](const Expr& at) const { return view.at({at}); }
};

class Walk {
 public:
  Walk(Lowering& l, const Branches& trees, const View& x) : l_(l), trees_(trees), x_(x) {
    const Ints on_yes = leads(l, trees, trees.yes, trees.yes_leafs), on_no = leads(l, trees, trees.no, trees.no_leafs);
    for (const std::int64_t root : trees.roots)
      if (root < 0 || root >= std::ssize(trees.modes)) l.refuse("a tree begins at a node that does not exist");
    const auto columns = x.dims[1].as_int();
    for (const std::int64_t f : trees.features)
      if (f < 0 || (columns && f >= *columns)) l.refuse("a branch asks for a feature that does not exist");
    if (!columns && !trees.features.empty()) l.require(less(std::ranges::max(trees.features), x.dims[1]));
    depth_ = depth_of(l, trees.roots, on_yes, on_no);
    yes_ = ints(on_yes);
    no_ = ints(on_no);
    features_ = ints(trees.features);
    modes_ = ints(trees.modes);
    missing_ = ints(trees.missing);
    splits_ = reals(trees.splits);
    add_sets();
  }

  /// The leaf that the example reaches from a branch.
  Expr leaf(const Expr& example, const Expr& root) {
    const Expr at = l_.let(root, true);
    l_.loop(
        depth_, [&](Expr) { step(example, at); }, less_equal(0, at));
    return l_.let(-1 - at);
  }

  /// Whether examples can go down a tree side by side: what a step asks is one comparison, and paths are not so long
  /// that most would wait for the last.
  bool goes_together() const {
    const bool is_any_missing = std::ranges::any_of(trees_.missing, [](std::int64_t m) { return m != 0; });
    const auto examples = x_.dims[0].as_int();
    return !has_mode(Branches::kMember) && !is_any_missing && x_.dims[1].as_int() && depth_ <= kMostTogether &&
           std::ssize(trees_.modes) <= INT32_MAX && std::ssize(trees_.targets) <= INT32_MAX &&
           (!examples || *examples >= kFewest);
  }

  /// All examples from `first` on go down from a root; `places` holds where they are, in the end -1 - leaf.
  void descend(const View& places, const Expr& first, const Expr& count, const Expr& root) {
    const auto all = [&](const std::function<Expr(const Exprs&)>& value) {
      l_.map(
          places, {count}, [](const Exprs& at) { return at; }, value);
    };
    all([&](const Exprs&) { return cast(root, DType::i32); });
    l_.loop(depth_, [&](Expr) {
      all([&](const Exprs& at) {
        const Expr here = places.at(at), node = max(0, as_index(here));
        const Expr number = cast(x_.at({first + at[0], as_index(features_[node])}), elem());
        const Expr next = chosen(comparison(number, node), small(yes_[node]), small(no_[node]));
        return chosen(Expr::make(Op::less, DType::boolean, {here, Expr::integer(0, DType::i32)}), here, next);
      });
    });
  }

 private:
  static constexpr std::int64_t kMostTogether = 16, kFewest = 8;

  static Expr small(const Expr& place) { return cast(place, DType::i32); }
  /// A choice by bits: where it goes nobody can foretell, and a processor that guesses loses more than both cost.
  static Expr chosen(const Expr& test, const Expr& yes, const Expr& no) {
    const auto make = [](Op op, const Exprs& args) { return Expr::make(op, DType::i32, args); };
    const Expr mask = make(Op::neg, {cast(test, DType::i32)});
    return make(Op::bit_or, {make(Op::bit_and, {yes, mask}), make(Op::bit_and, {no, make(Op::bit_not, {mask})})});
  }

  /// Small numbers take little room in caches.
  Table ints(const Ints& values) {
    const bool fits = std::ranges::all_of(values, [](std::int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; });
    const Dims dims = {std::ssize(values)};
    if (!fits) return {l_.weight(Tensor::of<std::int64_t>(dims, values))};
    return {l_.weight(Tensor::of<std::int32_t>(dims, std::vector<std::int32_t>(values.begin(), values.end())))};
  }
  Table reals(const std::vector<double>& values) {
    const Dims dims = {std::ssize(values)};
    if (elem() == DType::f64) return {l_.weight(Tensor::of<double>(dims, values))};
    return {l_.weight(Tensor::of<float>(dims, std::vector<float>(values.begin(), values.end())))};
  }

  DType elem() const { return x_.type == DType::f64 ? DType::f64 : DType::f32; }

  void add_sets() {
    if (trees_.sets.empty()) return;
    std::vector<double> members;
    Ints begins = {0};
    for (const auto& set : trees_.sets) {
      members.insert(members.end(), set.begin(), set.end());
      begins.push_back(std::ssize(members));
    }
    if (members.empty()) members.push_back(0);
    members_ = reals(members);
    begins_ = ints(begins);
    set_of_ = ints(Ints(trees_.set_of.begin(), trees_.set_of.end()));
  }

  bool has_mode(std::int64_t mode) const { return std::ranges::find(trees_.modes, mode) != trees_.modes.end(); }

  void step(const Expr& example, const Expr& at) {
    const Expr feature = l_.let(as_index(features_[at]));
    Expr number = cast(x_.at({example, feature}), elem());
    // What an input of fewer columns lacks is missing.
    if (!x_.dims[1].as_int()) number = select(less(feature, x_.dims[1]), number, Expr::constant(std::nan(""), elem()));
    const Expr value = l_.let(number);
    const Expr goes = l_.let(comparison(value, at), true);
    if (has_mode(Branches::kMember))
      l_.branch(equal(as_index(modes_[at]), Branches::kMember), [&] { search(value, at, goes); });
    if (std::ranges::any_of(trees_.missing, [](std::int64_t m) { return m != 0; }))
      l_.branch(both(Expr::make(Op::is_nan, DType::boolean, {value}), negate(equal(as_index(missing_[at]), 0))),
                [&] { l_.set(goes, Expr::integer(1, DType::boolean)); });
    l_.set(at, select(goes, as_index(yes_[at]), as_index(no_[at])));
  }

  /// Of all modes that there are; where there is one, nothing is asked.
  Expr comparison(const Expr& x, const Expr& at) const {
    const Expr split = splits_[at];
    const Expr tests[] = {less_equal(x, split), less(x, split),  less_equal(split, x),
                          less(split, x),       equal(x, split), negate(equal(x, split))};
    Expr chosen;
    for (std::size_t mode = 0; mode < std::size(tests); ++mode) {
      const auto number = static_cast<std::int64_t>(mode);
      if (!has_mode(number)) continue;
      chosen = chosen ? select(equal(as_index(modes_[at]), number), tests[mode], chosen) : tests[mode];
    }
    return chosen ? chosen : Expr::integer(0, DType::boolean);
  }

  void search(const Expr& value, const Expr& at, const Expr& goes) {
    const Expr set = l_.let(as_index(set_of_[at]));
    const Expr begin = l_.let(as_index(begins_[set])), end = l_.let(as_index(begins_[set + 1]));
    l_.set(goes, Expr::integer(0, DType::boolean));
    l_.loop(end - begin, [&](Expr k) {
      l_.branch(equal(members_[begin + k], value), [&] { l_.set(goes, Expr::integer(1, DType::boolean)); });
    });
  }

  Lowering& l_;
  const Branches& trees_;
  View x_;
  std::int64_t depth_ = 0;
  Table yes_, no_, features_, modes_, missing_, splits_, members_, begins_, set_of_;
};

Expr f64(Op op, const Expr& a, const Expr& b) { return Expr::make(op, DType::f64, {a, b}); }

constexpr std::int64_t kBlock = 256;  // examples that a tree meets while it is in the cache

/// The votes of all trees for `block` examples from `first` on go into their rows. `places`: room for where each
/// example is, if they go together.
void add_votes(Lowering& l, Walk& walk, const Branches& trees, Aggregate aggregate, const View& totals,
               const View& counts, const View& places, const Expr& first, const Expr& block) {
  const Table roots{l.weight(Tensor::of<std::int64_t>({std::ssize(trees.roots)}, trees.roots))};
  const Table targets{l.weight(Tensor::of<std::int64_t>({std::ssize(trees.targets)}, trees.targets))};
  const Table weights{l.weight(Tensor::of<double>({std::ssize(trees.weights)}, trees.weights))};
  const auto vote = [&](const Expr& example, const Expr& leaf) {
    const Exprs place = {example, l.let(as_index(targets[leaf]))};
    const Expr weight = l.let(weights[leaf]), total = totals.at(place);
    if (aggregate == Aggregate::min || aggregate == Aggregate::max) {
      const Expr extreme = f64(aggregate == Aggregate::min ? Op::min : Op::max, total, weight);
      l.store(totals, place, select(equal(as_index(counts.at(place)), 0), weight, extreme));
      l.store(counts, place, Expr::integer(1, DType::i64));
    } else {
      l.store(totals, place, f64(Op::add, total, weight));
    }
  };
  l.loop(std::ssize(trees.roots), [&](Expr tree) {
    const Expr root = as_index(roots[tree]);
    if (places.tensor >= 0) walk.descend(places, first, block, root);
    l.loop(block, [&](Expr i) {
      const Expr example = first + i;
      vote(example, places.tensor >= 0 ? l.let(-1 - as_index(places.at({i}))) : walk.leaf(example, root));
    });
  });
}

/// The sums of the votes, example by example, for any kind of tree.
View votes_in_loops(Lowering& l, const Branches& trees, const View& x, std::int64_t targets, Aggregate aggregate) {
  const auto zeros = [&](DType type) {
    const View made = l.fresh(type, {x.dims[0], targets});
    l.map(
        made, made.dims, [](const Exprs& at) { return at; },
        [&](const Exprs&) { return type == DType::i64 ? Expr::integer(0, type) : Expr::constant(0, type); });
    return made;
  };
  const bool is_extreme = aggregate == Aggregate::min || aggregate == Aggregate::max;
  const View totals = zeros(DType::f64), counts = is_extreme ? zeros(DType::i64) : View{};
  Walk walk(l, trees, x);
  const View places = walk.goes_together() ? l.fresh(DType::i32, {kBlock}) : View{};
  l.loop(ceil_div(x.dims[0], kBlock), [&](Expr block) {
    const Expr first = block * kBlock;
    const Expr count = x.dims[0].as_int() && *x.dims[0].as_int() <= kBlock ? x.dims[0] : min(kBlock, x.dims[0] - first);
    add_votes(l, walk, trees, aggregate, totals, counts, places, first, count.as_int() ? count : l.let(count));
  });
  return totals;
}

View transformed(Lowering& l, const View& scores, Transform transform) {
  const auto exp = [](const Expr& x) { return Expr::make(Op::exp, DType::f64, {x}); };
  if (transform == Transform::logistic)
    return l.computed(
        DType::f64, scores.dims, [=](const Exprs& at) { return Expr::make(Op::sigmoid, DType::f64, {scores.at(at)}); },
        8);
  if (transform == Transform::none) return scores;
  const View most =
      l.reduced(DType::f64, {scores.dims[0]}, {scores.dims[1]}, Combine::max, [&](const Exprs& at, const Exprs& over) {
        return scores.at({at[0], over[0]});
      });
  const View sum =
      l.reduced(DType::f64, {scores.dims[0]}, {scores.dims[1]}, Combine::sum, [&](const Exprs& at, const Exprs& over) {
        return exp(f64(Op::sub, scores.at({at[0], over[0]}), most.at({at[0]})));
      });
  return l.computed(
      DType::f64, scores.dims,
      [=](const Exprs& at) {
        return f64(Op::div, exp(f64(Op::sub, scores.at(at), most.at({at[0]}))), sum.at({at[0]}));
      },
      8);
}

}  // namespace

void lower_tree_ensemble(Lowering& l) {
  const View x = l.stored(l.in(0));
  const std::int64_t targets = l.attr("n_targets", 0), aggregate = l.attr("aggregate_function", 1);
  if (x.rank() != 2 || targets < 1) l.refuse("the input must have shape [N, C], and 'n_targets' be positive");
  const Branches trees(l.node().attributes);
  for (const std::int64_t t : trees.targets)
    if (t < 0 || t >= targets) l.refuse("a leaf votes for a target that does not exist");
  const auto how = static_cast<Aggregate>(aggregate);
  View totals = ranked_votes(l, x, targets);
  if (totals.tensor < 0) totals = votes_in_loops(l, trees, x, targets, how);
  View scores = totals;
  if (how == Aggregate::average) {
    const Expr count = Expr::constant(static_cast<double>(trees.roots.size()), DType::f64);
    scores = l.computed(
        DType::f64, totals.dims, [=](const Exprs& at) { return f64(Op::div, totals.at(at), count); }, 1);
  }
  const View y = transformed(l, scores, static_cast<Transform>(l.attr("post_transform", 0)));
  l.out(0, l.computed(
               x.type, y.dims, [=](const Exprs& at) { return cast(y.at(at), x.type); }, y.cost + 1));
}

}  // namespace ingot::lower
