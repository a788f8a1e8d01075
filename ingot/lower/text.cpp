// Operators on strings. A tensor of strings is its bytes one after the other and where each string ends in them.
#include <algorithm>
#include <numeric>

#include "ingot/lower/rows.h"
#include "ingot/ops/ml/label_encoder.h"

namespace ingot::lower {
namespace {

Expr number_of(const Expr& index) { return from_index(index, DType::i64); }
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
    l.store(flat, {i}, number_of(total));
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
    l.store(flat, {i}, number_of(found));
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
      l.store(begins, {i, slot}, number_of(begin));
      l.store(lengths, {i, slot}, number_of(length));
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
      l.store(kept, {found}, number_of(i));
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

/// What has no key, as a tensor of one element.
Tensor other_value(Lowering& l, DType type) {
  const Attributes& a = l.node().attributes;
  if (const auto* tensor = a.get<Tensor>("default_tensor"); tensor && tensor->size() == 1 && tensor->dtype() == type)
    return tensor->reshaped({1});
  if (type == DType::string) return Tensor::of_strings({1}, {a.string_or("default_string", "_Unused")});
  if (type == DType::f32) return Tensor::of<float>({1}, {a.float_or("default_float", -0.0f)});
  if (type == DType::f64) return Tensor::of<double>({1}, {-0.0});
  if (type == DType::i64) return Tensor::ints({a.int_or("default_int64", -1)});
  if (type == DType::i32) return Tensor::of<std::int32_t>({1}, {-1});
  if (type == DType::i16) return Tensor::of<std::int16_t>({1}, {-1});
  l.refuse("no code can be made for values of this type");
}

/// Values, and the one of what has no key at the end.
Tensor values_of(Lowering& l, std::int64_t count) {
  const auto values = ops::label_list(l.node().attributes, "values");
  if (!values || values->size() != count) l.refuse("there is not one value for each key");
  const Tensor other = other_value(l, values->dtype());
  if (values->dtype() == DType::string) {
    std::vector<std::string> words(values->strings().begin(), values->strings().end());
    words.push_back(other.strings()[0]);
    return Tensor::of_strings({count + 1}, words);
  }
  const auto joined = [&]<class T>(T) {
    std::vector<T> all = values->to_vector<T>();
    all.push_back(other.at<T>(0));
    return Tensor::of<T>({count + 1}, all);
  };
  switch (values->dtype()) {
    case DType::f32:
      return joined(float{});
    case DType::f64:
      return joined(double{});
    case DType::i64:
      return joined(std::int64_t{});
    case DType::i32:
      return joined(std::int32_t{});
    case DType::i16:
      return joined(std::int16_t{});
    default:
      l.refuse("no code can be made for values of this type");
  }
}

/// Which key each element is, or their count, as numbers in the shape of input 0.
View places_of_keys(Lowering& l, const Tensor& keys) {
  const bool has_words = keys.dtype() == DType::string;
  const Exprs dims = has_words ? l.strings_in(0).ends.dims : l.in(0).dims;
  const View places = l.fresh(DType::i64, dims);
  const Expr count = product(dims).as_int() ? product(dims) : l.let(product(dims));
  const View flat = l.reshaped(places, {count});
  const std::optional<Row> words = has_words ? std::optional(Row(l, l.strings_in(0))) : std::nullopt,
                           table = has_words ? std::optional(Row(l, l.constant_strings(keys))) : std::nullopt;
  const View numbers = has_words ? View{} : l.reshaped(l.in(0), {count});
  const View known = has_words || keys.size() == 0 ? View{} : l.weight(keys);
  l.loop(count, [&](Expr i) {
    const Expr found = l.let(keys.size(), true);
    const Piece word = has_words ? piece_of(l, *words, i) : Piece{};
    const Expr number = has_words ? Expr() : l.let(numbers.at({i}));
    l.loop(keys.size(), [&](Expr k) {
      const auto is_number = [&] {
        const Expr key = known.at({k}), is = Expr::make(Op::equal, DType::boolean, {number, key});
        if (!is_float(keys.dtype())) return is;
        const auto is_nan = [](const Expr& x) { return Expr::make(Op::is_nan, DType::boolean, {x}); };
        return either(is, both(is_nan(number), is_nan(key)));
      };
      const Expr is = has_words ? are_same(l, word, piece_of(l, *table, k)) : is_number();
      l.branch(both(is, equal(found, keys.size())), [&] { l.set(found, k); });
    });
    l.store(flat, {i}, number_of(found));
  });
  return places;
}

/// Strings of a row by their numbers.
Strings fetched(Lowering& l, const Row& row, const View& numbers) {
  const Expr count = product(numbers.dims).as_int() ? product(numbers.dims) : l.let(product(numbers.dims));
  const View flat = l.reshaped(numbers, {count});
  return build(l, numbers.dims,
               [&](const Expr& i, const Append& append) { append(piece_of(l, row, l.let(as_index(flat.at({i}))))); });
}

}  // namespace

void lower_label_encoder(Lowering& l) {
  const auto keys = ops::label_list(l.node().attributes, "keys");
  const DType type = l.node().input(0)->type.elem;
  if (!keys || keys->dtype() != type) l.refuse("its keys are not of the input's type");
  const Tensor values = values_of(l, keys->size());
  const View places = places_of_keys(l, *keys);
  if (values.dtype() == DType::string) return l.strings_out(0, fetched(l, Row(l, l.constant_strings(values)), places));
  const View table = l.weight(values);
  l.out(0, l.computed(values.dtype(), places.dims,
                      [=](const Exprs& at) { return table.at(Exprs{as_index(places.at(at))}); }));
}

namespace {

/// All strings one after the other.
Strings joined(Lowering& l, const std::vector<Strings>& parts) {
  if (parts.size() == 1) return parts[0];
  Expr size = 0, count = 0;
  for (const Strings& s : parts) {
    size = size + product(s.bytes.dims);
    count = count + product(s.ends.dims);
  }
  Strings all{l.fresh(DType::u8, {size}), l.fresh(DType::i64, {count})};
  size = count = 0;
  for (const Strings& s : parts) {
    const auto after = [&](const Expr& start) { return [start](const Exprs& at) { return Exprs{start + at[0]}; }; };
    const View bytes = l.reshaped(s.bytes, {product(s.bytes.dims)}), ends = l.reshaped(s.ends, {product(s.ends.dims)});
    const Expr shift = number_of(size);
    l.map(all.bytes, bytes.dims, after(size), [&](const Exprs& at) { return bytes.at(at); });
    l.map(all.ends, ends.dims, after(count), [&](const Exprs& at) {
      return Expr::make(Op::add, DType::i64, {ends.at(at), shift});
    });
    size = size + bytes.dims[0];
    count = count + ends.dims[0];
  }
  return all;
}

}  // namespace

/// What moves numbers moves the numbers of strings; then each string is fetched.
void lower_moved_strings(Lowering& l) {
  const Node& node = l.node();
  std::vector<const Value*> values;
  std::vector<Strings> strings;
  for (const Value* v : node.inputs())
    if (v && v->type.elem == DType::string && std::ranges::find(values, v) == values.end()) {
      values.push_back(v);
      strings.push_back(l.strings_of(v));
    }
  Expr before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Exprs dims = strings[i].ends.dims;
    l.set_view(values[i], l.computed(DType::i64, dims, [dims, before](const Exprs& at) {
      return number_of(before + flat_index(at, dims));
    }));
    before = before + product(dims);
  }
  lowering_of_numbers(node)(l);
  const Row row(l, joined(l, strings));
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    const Value* made = node.output(i);
    if (!made || made->type.elem != DType::string || made->uses().empty()) continue;
    l.strings_out(i, fetched(l, row, l.view_of(made)));
    l.drop_view(made);
  }
  for (const Value* v : values) l.drop_view(v);
}

void lower_zip_map(Lowering& l) {
  const auto keys = ops::label_list(l.node().attributes, "classlabels");
  if (!keys || keys->size() == 0) l.refuse("there are no labels");
  const View x = l.in(0);
  if (x.rank() != 1 && x.rank() != 2) l.refuse("its input is no matrix");
  l.require_same(x.dims.back(), keys->size());
  // A map is in the order of its keys, and of equal ones the last counts.
  std::vector<std::int64_t> order(static_cast<std::size_t>(keys->size()));
  std::iota(order.begin(), order.end(), 0);
  const bool has_words = keys->dtype() == DType::string;
  const auto less_than = [&](std::int64_t a, std::int64_t b) {
    return has_words ? keys->strings()[static_cast<std::size_t>(a)] < keys->strings()[static_cast<std::size_t>(b)]
                     : keys->at<std::int64_t>(a) < keys->at<std::int64_t>(b);
  };
  std::ranges::stable_sort(order, less_than);
  std::vector<std::int64_t> kept;
  for (const std::int64_t i : order) {
    if (!kept.empty() && !less_than(kept.back(), i)) kept.pop_back();
    kept.push_back(i);
  }
  const View table = l.weight(Tensor::ints(kept));
  Maps maps;
  maps.values = l.computed(x.type, {x.rank() == 1 ? Expr(1) : x.dims[0], std::ssize(kept)}, [=](const Exprs& at) {
    const Expr column = as_index(table.at({at[1]}));
    return x.at(x.rank() == 1 ? Exprs{column} : Exprs{at[0], column});
  });
  if (has_words) {
    std::vector<std::string> words;
    for (const std::int64_t i : kept) words.push_back(keys->strings()[static_cast<std::size_t>(i)]);
    maps.words = l.constant_strings(Tensor::of_strings({std::ssize(words)}, words));
  } else {
    std::vector<std::int64_t> numbers;
    for (const std::int64_t i : kept) numbers.push_back(keys->at<std::int64_t>(i));
    maps.numbers = l.stored(l.weight(Tensor::ints(numbers)));
  }
  l.maps_out(0, std::move(maps));
}

}  // namespace ingot::lower
