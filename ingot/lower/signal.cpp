// Operators that look along one axis of a signal, or at groups of its elements.
#include <algorithm>
#include <cmath>
#include <map>

#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

Expr f64(Op op, Exprs args) { return Expr::make(op, DType::f64, std::move(args)); }

/// One transform along one axis, term by term.
class Transform {
 public:
  explicit Transform(Lowering& l) : l_(l), x_(l.stored(l.in(0))) {
    is_onesided_ = l.attr("onesided", 0) != 0;
    is_inverse_ = l.attr("inverse", 0) != 0;
    if (!x_.dims.back().as_int()) l.refuse("whether the input is complex is not known");
  }

  std::size_t axes() const { return x_.rank() - 1; }
  bool gives_reals() const { return is_onesided_ && is_inverse_; }
  const View& input() const { return x_; }

  /// The length of the transform along an axis, and how many results it has.
  Expr length(std::size_t axis) const {
    if (l_.has(1)) return l_.single_int(1);
    return gives_reals() ? (x_.dims[axis] - 1) * 2 : x_.dims[axis];
  }
  Expr results(std::size_t axis) const {
    return is_onesided_ && !is_inverse_ ? floor_div(length(axis), 2) + 1 : length(axis);
  }

  void run(const View& y, std::size_t axis) {
    const Expr n = l_.let(length(axis));
    const Expr terms = l_.let(min(gives_reals() ? floor_div(n, 2) + 1 : n, x_.dims[axis]));
    const bool is_complex = *x_.dims.back().as_int() == 2;
    Exprs outer = y.dims;
    outer.back() = 1;
    l_.loops(outer, [&](const Exprs& at) {
      const Expr zero = Expr::constant(0, DType::f64), re = l_.let(zero, true), im = l_.let(zero, true);
      l_.loop(terms, [&](Expr t) {
        const Expr turn = from_index(modulo(at[axis] * t, n), DType::f64);
        const Expr angle =
            l_.let(f64(Op::div, {f64(Op::mul, {turn, Expr::constant((is_inverse_ ? 2 : -2) * M_PI, DType::f64)}),
                                 from_index(n, DType::f64)}));
        const Expr cos = l_.let(f64(Op::cos, {angle})), sin = l_.let(f64(Op::sin, {angle}));
        Exprs place = at;
        place[axis] = t;
        place.back() = 0;
        // Half of a spectrum stands for all of it: what is neither first nor middle counts twice.
        const Expr is_once = either(equal(t, 0), equal(t * 2, n));
        const Expr weight = gives_reals()
                                ? select(is_once, Expr::constant(1, DType::f64), Expr::constant(2, DType::f64))
                                : Expr::constant(1, DType::f64);
        const Expr a = l_.let(f64(Op::mul, {weight, cast(x_.at(place), DType::f64)}));
        place.back() = 1;
        const Expr b = is_complex ? l_.let(f64(Op::mul, {weight, cast(x_.at(place), DType::f64)})) : zero;
        l_.set(re, f64(Op::add, {re, f64(Op::sub, {f64(Op::mul, {a, cos}), f64(Op::mul, {b, sin})})}));
        l_.set(im, f64(Op::add, {im, f64(Op::add, {f64(Op::mul, {a, sin}), f64(Op::mul, {b, cos})})}));
      });
      const Expr scale = is_inverse_ ? from_index(n, DType::f64) : Expr::constant(1, DType::f64);
      Exprs place = at;
      place.back() = 0;
      l_.store(y, place, cast(f64(Op::div, {re, scale}), y.type));
      place.back() = 1;
      if (!gives_reals()) l_.store(y, place, cast(f64(Op::div, {im, scale}), y.type));
    });
  }

 private:
  Lowering& l_;
  View x_;
  bool is_onesided_ = false, is_inverse_ = false;
};

}  // namespace

/// Only where the axis is known when it runs: otherwise the transform is a product of matrices.
void lower_dft(Lowering& l) {
  Transform transform(l);
  const View& x = transform.input();
  const Expr axis = l.let(place_of(l.single_int(2), static_cast<std::int64_t>(x.rank())));
  Exprs dims = x.dims;
  dims.back() = transform.gives_reals() ? 1 : 2;
  const auto is_along = [&](std::size_t a) { return equal(axis, static_cast<std::int64_t>(a)); };
  for (std::size_t a = 0; a < transform.axes(); ++a)
    dims[a] = same(transform.results(a), x.dims[a]) ? x.dims[a] : select(is_along(a), transform.results(a), x.dims[a]);
  l.settle(0, dims);
  const View y = l.fresh(x.type, dims);
  for (std::size_t a = 0; a < transform.axes(); ++a) l.branch(is_along(a), [&] { transform.run(y, a); });
  l.out(0, y);
}

namespace {

using Ints = std::vector<std::int64_t>;

/// The n-grams of a vocabulary of numbers: those of one length.
struct Grams {
  std::int64_t length = 1;
  Ints words, ids;  // one after the other; the place of each in the pool
};

std::vector<Grams> grams_of(Lowering& l, const Ints& pool, const Ints& starts, std::int64_t& count) {
  std::vector<Grams> all;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const auto size = std::ssize(pool), length = static_cast<std::ptrdiff_t>(k) + 1;
    const std::int64_t end = k + 1 < starts.size() ? starts[k + 1] : size;
    if (starts[k] < 0 || end < starts[k] || end > size || (end - starts[k]) % length != 0)
      l.refuse("ngram_counts does not fit the pool");
    Grams grams{length, {}, {}};
    std::map<Ints, bool> seen;
    for (auto at = pool.begin() + starts[k]; at != pool.begin() + end; at += length, ++count)
      if (seen.try_emplace(Ints(at, at + length), true).second) {
        grams.words.insert(grams.words.end(), at, at + length);
        grams.ids.push_back(count);
      }
    all.push_back(std::move(grams));
  }
  return all;
}

/// Counts what stands in a row of words, neighbours or with equal gaps between them.
void count_grams(Lowering& l, const View& x, const Expr& row, const Grams& grams, const View& counts) {
  const std::int64_t n = grams.length, skips = l.attr("max_skip_count", 0), total = std::ssize(grams.ids);
  if (total == 0) return;
  const View words = l.stored(l.weight(Tensor::of<std::int64_t>({total, n}, grams.words)));
  const View ids = l.stored(l.weight(Tensor::of<std::int64_t>({total}, grams.ids)));
  const Expr size = x.dims.back();
  const auto word = [&](const Expr& at) { return cast(x.at(x.rank() == 1 ? Exprs{at} : Exprs{row, at}), DType::i64); };
  l.loop(n == 1 ? 1 : skips + 1, [&](Expr gap) {
    const Expr step = gap + 1;
    l.loop(max(0, size - step * (n - 1)), [&](Expr first) {
      l.loop(total, [&](Expr g) {
        const Expr is = l.let(Expr::integer(1, DType::boolean), true);
        l.loop(n, [&](Expr k) {
          const Expr differs =
              negate(Expr::make(Op::equal, DType::boolean, {word(first + step * k), words.at({g, k})}));
          l.branch(differs, [&] { l.set(is, Expr::integer(0, DType::boolean)); });
        });
        l.branch(is, [&] {
          const Expr id = l.let(as_index(ids.at({g})));
          l.store(counts, {id}, Expr::make(Op::add, DType::f32, {counts.at({id}), Expr::constant(1, DType::f32)}));
        });
      });
    });
  });
}

}  // namespace

void lower_tf_idf_vectorizer(Lowering& l) {
  const Attributes& a = l.node().attributes;
  const View x = l.stored(l.in(0));
  const std::string mode = a.string_or("mode", "");
  const Ints columns = a.ints_or("ngram_indexes", {});
  const auto* weights = a.get<std::vector<float>>("weights");
  if (!a.get<Ints>("pool_int64s") || columns.empty() || (x.rank() != 1 && x.rank() != 2))
    l.refuse("no code can be made for this vocabulary");
  std::int64_t pool = 0, width = 0;
  const std::vector<Grams> grams = grams_of(l, *a.get<Ints>("pool_int64s"), a.ints_or("ngram_counts", {}), pool);
  for (const std::int64_t c : columns) width = c < 0 ? INT64_MAX : std::max(width, c + 1);
  if (pool > std::ssize(columns) || width > (1 << 24) || (weights && weights->size() != columns.size()))
    l.refuse("ngram_indexes does not have an entry per n-gram");
  const View places = l.stored(l.weight(Tensor::of<std::int64_t>({std::ssize(columns)}, columns)));
  const bool is_weighted = weights && mode != "TF";
  const std::vector<float> ones(columns.size(), 1.0f);
  const View factors = l.stored(l.weight(Tensor::of<float>({std::ssize(columns)}, is_weighted ? *weights : ones)));
  const View counts = l.fresh(DType::f32, {std::ssize(columns)});
  const View y = l.fresh(DType::f32, x.rank() == 1 ? Exprs{width} : Exprs{x.dims[0], width});
  const auto zero = [&](const View& v) {
    l.map(
        v, v.dims, [](const Exprs& at) { return at; }, [](const Exprs&) { return Expr::constant(0, DType::f32); });
  };
  zero(y);
  const std::int64_t least = l.attr("min_gram_length", 1), most = l.attr("max_gram_length", 1);
  l.loop(x.rank() == 1 ? Expr(1) : x.dims[0], [&](Expr row) {
    zero(counts);
    for (const Grams& g : grams)
      if (g.length >= least && g.length <= most) count_grams(l, x, row, g, counts);
    l.loop(std::ssize(columns), [&](Expr i) {
      const Expr count = l.let(counts.at({i})), none = Expr::constant(0, DType::f32);
      l.branch(less(none, count), [&] {
        const Expr column = l.let(as_index(places.at({i})));
        const Exprs at = x.rank() == 1 ? Exprs{column} : Exprs{row, column};
        const Expr times = mode == "IDF" ? Expr::constant(1, DType::f32) : count;
        l.store(y, at,
                Expr::make(Op::add, DType::f32, {y.at(at), Expr::make(Op::mul, DType::f32, {times, factors.at({i})})}));
      });
    });
  });
  l.out(0, y);
}

}  // namespace ingot::lower
