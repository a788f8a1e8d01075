// Operators on strings. A tensor of strings is its bytes one after the other and where each string ends in them.
#include <algorithm>

#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

Expr number(const Expr& index) { return from_index(index, DType::i64); }
Expr truth(bool value) { return Expr::integer(value, DType::boolean); }
Expr byte(std::int64_t value) { return Expr::integer(value, DType::u8); }

/// Strings by their number.
struct Row {
  View bytes, ends;

  Row(Lowering& l, const Strings& s) : bytes(s.bytes), ends(l.reshaped(s.ends, {product(s.ends.dims)})) {}
  Expr end(const Expr& i) const { return as_index(ends.at({i})); }
  Expr begin(const Expr& i) const { return select(less(0, i), as_index(ends.at({i - 1})), 0); }
};

/// A part of a row's bytes.
struct Piece {
  View bytes;
  Expr begin, length;
};

Piece piece_of(Lowering& l, const Row& row, const Expr& i) {
  const Expr begin = l.let(row.begin(i));
  return {row.bytes, begin, l.let(row.end(i) - begin)};
}

using Change = std::function<Expr(const Expr& byte)>;

/// Whether two pieces are the same, as a variable.
Expr are_same(Lowering& l, const Piece& a, const Piece& b, const Change& change = {}) {
  const Expr is = l.let(equal(a.length, b.length), true);
  const auto read = [&](const Piece& p, const Expr& k) { return p.bytes.at({p.begin + k}); };
  l.loop(
      min(a.length, b.length),
      [&](Expr k) {
        const Expr x = change ? change(read(a, k)) : read(a, k);
        l.branch(negate(Expr::make(Op::equal, DType::boolean, {x, read(b, k)})), [&] { l.set(is, truth(false)); });
      },
      is);
  return is;
}

using Append = std::function<void(const Piece&)>;

/// So many strings, each of the pieces that `pieces` appends for it. It is asked twice: how long, then which.
Strings build(Lowering& l, const Exprs& dims, const std::function<void(const Expr& i, const Append&)>& pieces,
              const Change& change = {}) {
  const Expr count = product(dims).as_int() ? product(dims) : l.let(product(dims));
  View ends = l.fresh(DType::i64, dims);
  const View flat = l.reshaped(ends, {count});
  const Expr total = l.let(0, true);
  l.loop(count, [&](Expr i) {
    pieces(i, [&](const Piece& p) { l.set(total, total + p.length); });
    l.store(flat, {i}, number(total));
  });
  const View bytes = l.fresh(DType::u8, {l.let(total)});
  const Expr at = l.let(0, true);
  l.loop(count, [&](Expr i) {
    pieces(i, [&](const Piece& p) {
      l.loop(p.length, [&](Expr k) {
        const Expr v = p.bytes.at({p.begin + k});
        l.store(bytes, {at + k}, change ? change(v) : v);
      });
      l.set(at, at + p.length);
    });
  });
  return {bytes, ends};
}

/// Letters of ASCII in the other case.
Expr in_case(const Expr& c, bool is_upper) {
  const Expr is_letter = both(less_equal(byte(is_upper ? 'a' : 'A'), c), less_equal(c, byte(is_upper ? 'z' : 'Z')));
  return select(is_letter, Expr::make(is_upper ? Op::sub : Op::add, DType::u8, {c, byte(32)}), c);
}

Row table_of(Lowering& l, const std::vector<std::string>& words) {
  return Row(l, l.constant_strings(Tensor::of_strings({std::ssize(words)}, words)));
}

std::string lower_case(std::string word) {
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return word;
}

}  // namespace

void lower_string_equal(Lowering& l) {
  const Strings a = l.strings_in(0), b = l.strings_in(1);
  const Row x(l, a), y(l, b);
  const Exprs dims = l.broadcast(a.ends.dims, b.ends.dims);
  const View out = l.fresh(DType::boolean, dims);
  l.loops(out.dims, [&](const Exprs& at) {
    const Expr i = flat_index(broadcast_place(at, out.dims, a.ends.dims), a.ends.dims);
    const Expr j = flat_index(broadcast_place(at, out.dims, b.ends.dims), b.ends.dims);
    l.store(out, at, are_same(l, piece_of(l, x, i), piece_of(l, y, j)));
  });
  l.out(0, out);
}

void lower_string_concat(Lowering& l) {
  const Strings a = l.strings_in(0), b = l.strings_in(1);
  const Row x(l, a), y(l, b);
  Exprs dims = l.broadcast(a.ends.dims, b.ends.dims);
  for (Expr& d : dims)
    if (!d.as_int()) d = l.let(d);
  l.strings_out(0, build(l, dims, [&](const Expr& i, const Append& append) {
                  Exprs at(dims.size());
                  Expr rest = i;
                  for (std::size_t d = dims.size(); d-- > 0; rest = floor_div(rest, dims[d]))
                    at[d] = modulo(rest, dims[d]);
                  append(piece_of(l, x, l.let(flat_index(broadcast_place(at, dims, a.ends.dims), a.ends.dims))));
                  append(piece_of(l, y, l.let(flat_index(broadcast_place(at, dims, b.ends.dims), b.ends.dims))));
                }));
}

namespace {

using OnToken = std::function<void(const Expr& slot, const Expr& begin, const Expr& length)>;

/// The parts of a string between delimiters; `slot` counts them.
void scan_at(Lowering& l, const Piece& text, const Piece& mark, std::int64_t most, const Expr& slot,
             const OnToken& on) {
  const Expr end = l.let(text.begin + text.length), start = l.let(text.begin, true);
  l.loop(text.length, [&](Expr k) {
    const Expr here = l.let(text.begin + k);
    const Expr may = both(less_equal(start, here), less_equal(here + mark.length, end));
    l.branch(most < 0 ? may : both(may, less(slot, most)), [&] {
      const Expr is = are_same(l, {text.bytes, here, mark.length}, mark);
      l.branch(is, [&] {
        on(slot, start, here - start);
        l.set(start, here + mark.length);
        l.set(slot, slot + 1);
      });
    });
  });
  on(slot, start, end - start);
  l.set(slot, slot + 1);
}

/// The same between runs of white space, those at the ends left out.
void scan_at_space(Lowering& l, const Piece& text, std::int64_t most, const Expr& slot, const OnToken& on) {
  const Expr end = l.let(text.begin + text.length), start = l.let(-1, true);
  l.loop(text.length, [&](Expr k) {
    const Expr here = l.let(text.begin + k), c = l.let(text.bytes.at({here}));
    const auto in = [&](std::int64_t a, std::int64_t b) {
      return both(less_equal(byte(a), c), less_equal(c, byte(b)));
    };
    const Expr is_space = l.let(either(equal_bytes(c, byte(' ')), either(in(9, 13), in(28, 31))));
    l.branch(both(negate(is_space), less(start, 0)), [&] { l.set(start, here); });
    const Expr ends = both(is_space, less_equal(0, start));
    l.branch(most < 0 ? ends : both(ends, less(slot, most)), [&] {
      on(slot, start, here - start);
      l.set(start, -1);
      l.set(slot, slot + 1);
    });
  });
  l.branch(less_equal(0, start), [&] {
    on(slot, start, end - start);
    l.set(slot, slot + 1);
  });
}

}  // namespace

void lower_string_split(Lowering& l) {
  const Strings x = l.strings_in(0);
  const Row row(l, x);
  const auto* given = l.node().attributes.get<std::string>("delimiter");
  const std::int64_t most = l.attr("maxsplit", -1);
  const bool is_space = !given || given->empty();
  const Row marks = table_of(l, {is_space ? std::string(" ") : *given});
  const Piece mark{marks.bytes, 0, is_space ? 1 : std::ssize(*given)};
  const Expr count = product(x.ends.dims).as_int() ? product(x.ends.dims) : l.let(product(x.ends.dims));
  const auto scan = [&](const Expr& i, const OnToken& on) {
    const Expr slot = l.let(0, true);
    const Piece text = piece_of(l, row, i);
    if (is_space)
      scan_at_space(l, text, most, slot, on);
    else
      scan_at(l, text, mark, most, slot, on);
    return slot;
  };
  const View counts = l.fresh(DType::i64, x.ends.dims), flat = l.reshaped(counts, {count});
  const Expr widest = l.let(0, true);
  l.loop(count, [&](Expr i) {
    const Expr found = scan(i, [](const Expr&, const Expr&, const Expr&) {});
    l.store(flat, {i}, number(found));
    l.branch(less(widest, found), [&] { l.set(widest, found); });
  });
  const Expr wide = l.let(widest);
  const View begins = l.fresh(DType::i64, {count, wide}), lengths = l.fresh(DType::i64, {count, wide});
  const auto zero = [&](const View& v) {
    l.map(
        v, v.dims, [](const Exprs& at) { return at; }, [](const Exprs&) { return Expr::integer(0, DType::i64); });
  };
  zero(begins);
  zero(lengths);
  l.loop(count, [&](Expr i) {
    scan(i, [&](const Expr& slot, const Expr& begin, const Expr& length) {
      l.store(begins, {i, slot}, number(begin));
      l.store(lengths, {i, slot}, number(length));
    });
  });
  Exprs dims = x.ends.dims;
  dims.push_back(wide);
  const Expr all = l.let(count * wide);
  const View from = l.reshaped(begins, {all}), size = l.reshaped(lengths, {all});
  l.strings_out(0, build(l, dims, [&](const Expr& i, const Append& append) {
                  append({row.bytes, l.let(as_index(from.at({i}))), l.let(as_index(size.at({i})))});
                }));
  l.out(1, counts);
}

void lower_string_normalizer(Lowering& l) {
  const Strings x = l.strings_in(0);
  const Row row(l, x);
  const std::string change = l.node().attributes.string_or("case_change_action", "NONE");
  const bool is_sensitive = l.attr("is_case_sensitive", 0) != 0;
  std::vector<std::string> words;
  if (const auto* stopwords = l.node().attributes.get<std::vector<std::string>>("stopwords")) words = *stopwords;
  if (!is_sensitive) std::ranges::transform(words, words.begin(), lower_case);
  const Change folded = is_sensitive ? Change() : [](const Expr& c) { return in_case(c, false); };
  const Expr count = x.ends.dims.back();
  const View kept = l.fresh(DType::i64, {count});
  const Expr found = l.let(0, true);
  const std::optional<Row> stop = words.empty() ? std::nullopt : std::optional(table_of(l, words));
  l.loop(count, [&](Expr i) {
    const Expr stays = l.let(truth(true), true);
    const Piece word = piece_of(l, row, i);
    if (stop)
      l.loop(std::ssize(words), [&](Expr k) {
        const Expr is = are_same(l, word, piece_of(l, *stop, k), folded);
        l.branch(is, [&] { l.set(stays, truth(false)); });
      });
    l.branch(stays, [&] {
      l.store(kept, {found}, number(i));
      l.set(found, found + 1);
    });
  });
  Exprs dims = x.ends.dims;
  dims.back() = l.let(max(1, found));
  const auto pieces = [&](const Expr& i, const Append& append) {
    l.branch(less(i, found), [&] { append(piece_of(l, row, l.let(as_index(kept.at({i}))))); });
  };
  const bool is_upper = change == "UPPER";
  l.strings_out(
      0, build(
             l, dims, pieces, change == "NONE" ? Change() : [=](const Expr& c) { return in_case(c, is_upper); }));
}

namespace {

std::vector<std::string> keys_of(Lowering& l) {
  const Attributes& a = l.node().attributes;
  if (const auto* words = a.get<std::vector<std::string>>("keys_strings")) return *words;
  if (const auto* t = a.get<Tensor>("keys_tensor"); t && t->dtype() == DType::string)
    return {t->strings().begin(), t->strings().end()};
  l.refuse("its keys are no strings");
}

/// Values, and the one of what has no key at the end.
Tensor values_of(Lowering& l) {
  const Attributes& a = l.node().attributes;
  const auto with = []<class T>(std::vector<T> values, T other) {
    values.push_back(other);
    return Tensor::of<T>({std::ssize(values)}, values);
  };
  if (const auto* ints = a.get<std::vector<std::int64_t>>("values_int64s"))
    return with(*ints, a.int_or("default_int64", -1));
  if (const auto* floats = a.get<std::vector<float>>("values_floats"))
    return with(*floats, a.float_or("default_float", -0.0f));
  const auto *t = a.get<Tensor>("values_tensor"), *other = a.get<Tensor>("default_tensor");
  const auto joined = [&]<class T>(T missing) {
    return with(t->to_vector<T>(), other && other->size() == 1 ? other->at<T>(0) : missing);
  };
  if (t && (!other || other->dtype() == t->dtype())) {
    if (t->dtype() == DType::i64) return joined(std::int64_t{-1});
    if (t->dtype() == DType::i32) return joined(std::int32_t{-1});
    if (t->dtype() == DType::i16) return joined(std::int16_t{-1});
    if (t->dtype() == DType::f32) return joined(-0.0f);
    if (t->dtype() == DType::f64) return joined(-0.0);
  }
  l.refuse("no code can be made for values of this type");
}

}  // namespace

void lower_label_encoder(Lowering& l) {
  const Strings x = l.strings_in(0);
  const Row row(l, x);
  const std::vector<std::string> words = keys_of(l);
  const Tensor values = values_of(l);
  if (values.size() != std::ssize(words) + 1) l.refuse("there is not one value for each key");
  const Row keys = table_of(l, words);
  const View table = l.weight(values), out = l.fresh(values.dtype(), x.ends.dims);
  const Expr count = product(x.ends.dims).as_int() ? product(x.ends.dims) : l.let(product(x.ends.dims));
  const View flat = l.reshaped(out, {count});
  l.loop(count, [&](Expr i) {
    const Piece word = piece_of(l, row, i);
    const Expr found = l.let(std::ssize(words), true);
    l.loop(std::ssize(words), [&](Expr k) {
      const Expr is = are_same(l, word, piece_of(l, keys, k));
      l.branch(both(is, equal(found, std::ssize(words))), [&] { l.set(found, k); });
    });
    l.store(flat, {i}, table.at(Exprs{found}));
  });
  l.out(0, out);
}

}  // namespace ingot::lower
