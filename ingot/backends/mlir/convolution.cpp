// Convolutions: what as many windows as a vector holds see is gathered into a panel, which then meets all features.
#include "ingot/backends/mlir/convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/mlir/types.h"

namespace ingot::backends::mlir {

using namespace lower;

namespace {

constexpr std::int64_t kDeepest = 1152;  // of a panel, unless one channel alone has more

class ConvolutionPrinter {
 public:
  ConvolutionPrinter(Printer& p, const Convolution& s)
      : p_(p), s_(s), type_(p.program().buffers[static_cast<std::size_t>(s.out)].type), element_(m_type(type_).value) {
    width_ = type_ == DType::f64 ? 8 : 16;
    vector_ = fmt::format("vector<{}x{}>", width_, element_);
    memref_ = memref_of(type_);
    for (const std::int64_t k : s.kernel) taps_ *= k;
    channels_ = s.channels / s.group;
    features_ = s.features / s.group;
    at_once_ =
        std::clamp<std::int64_t>(kDeepest / std::max<std::int64_t>(taps_, 1), 1, std::max<std::int64_t>(channels_, 1));
  }

  void print() {
    zero_ = p_.index(0);
    one_ = p_.index(1);
    wide_ = p_.index(width_);
    const std::int64_t size = width_ * at_once_ * taps_;
    panel_ = cast(p_.local(fmt::format("memref<{}x{}>", std::max<std::int64_t>(size, 1), element_)), size, element_);
    where_ = p_.local(fmt::format("memref<{}xindex>", std::max<std::int64_t>(taps_ * width_, 1)));
    plane_ = p_.expr(product(s_.in));
    places_ = p_.expr(product(s_.outs));
    for (const Expr& e : s_.in) in_.push_back(p_.expr(e));
    for (const Expr& e : s_.outs) outs_.push_back(p_.expr(e));
    for (const Expr& e : s_.pads) pads_.push_back(p_.expr(e));
    x_ = p_.buffer(s_.x);
    w_ = p_.buffer(s_.w);
    y_ = p_.buffer(s_.out);
    const std::string n = open_loop(p_.expr(s_.batch), one_);
    const std::string g = open_loop(p_.index(s_.group), one_);
    x_base_ = times(plus(times(n, p_.index(s_.channels)), times(g, p_.index(channels_))), plane_);
    y_base_ = times(plus(times(n, p_.index(s_.features)), times(g, p_.index(features_))), places_);
    w_base_ = times(g, p_.index(features_ * channels_ * taps_));
    first_feature_ = times(g, p_.index(features_));
    block();
    p_.close("}");
    p_.close("}");
  }

 private:
  std::string plus(const std::string& a, const std::string& b) {
    return p_.value(fmt::format("arith.addi {}, {} : index", a, b));
  }
  std::string minus(const std::string& a, const std::string& b) {
    return p_.value(fmt::format("arith.subi {}, {} : index", a, b));
  }
  std::string times(const std::string& a, const std::string& b) {
    return p_.value(fmt::format("arith.muli {}, {} : index", a, b));
  }
  std::string least(const std::string& a, const std::string& b) {
    return p_.value(fmt::format("arith.minsi {}, {} : index", a, b));
  }
  std::string open_loop(const std::string& to, const std::string& step) {
    std::string i = fmt::format("%k{}", next_++);
    p_.open(fmt::format("scf.for {} = {} to {} step {} {{", i, zero_, to, step));
    return i;
  }
  std::string cast(const std::string& memory, std::int64_t size, const std::string& element) {
    return p_.value(fmt::format("memref.cast {} : memref<{}x{}> to memref<?x{}>", memory,
                                std::max<std::int64_t>(size, 1), element, element));
  }

  bool is_pointwise() const {
    return taps_ == 1 && std::ranges::all_of(s_.strides, [](std::int64_t v) { return v == 1; }) &&
           std::ranges::all_of(s_.pads, [](const Expr& e) { return e.as_int() == 0; }) &&
           std::ranges::equal(s_.in, s_.outs, [](const Expr& a, const Expr& b) { return same(a, b); });
  }

  void block() {
    const std::string first = open_loop(places_, wide_);
    const std::string columns = least(minus(places_, first), wide_);
    const std::string mask = p_.value(fmt::format("vector.create_mask {} : vector<{}xi1>", columns, width_));
    if (!is_pointwise()) find_places(first, columns);
    if (s_.bias >= 0) start_with_bias(first, mask);
    const std::string q = open_loop(p_.index(channels_), p_.index(at_once_));
    const std::string count = least(minus(p_.index(channels_), q), p_.index(at_once_));
    const std::string from = plus(x_base_, times(q, plane_));
    is_pointwise() ? copy_panel(plus(from, first), count, mask) : fill_panel(from, count);
    const std::string adds =
        s_.bias >= 0 ? p_.constant("true", "") : p_.value(fmt::format("arith.cmpi sgt, {}, {} : index", q, zero_));
    tiles(first, columns, q, count, adds);
    p_.close("}");
    p_.close("}");
  }

  /// Where each tap of each window reads in a plane; -1: outside.
  void find_places(const std::string& first, const std::string& columns) {
    const std::string tap = open_loop(p_.index(taps_), one_);
    const std::string j = open_loop(wide_, one_);
    std::string inside = p_.value(fmt::format("arith.cmpi slt, {}, {} : index", j, columns));
    std::string o = plus(first, j), k = tap, place = zero_, scale = one_;
    for (std::size_t d = s_.kernel.size(); d-- > 0;) {
      const auto split = [&](std::string& number, const std::string& by) {
        const std::string rest = p_.value(fmt::format("arith.remui {}, {} : index", number, by));
        number = p_.value(fmt::format("arith.divui {}, {} : index", number, by));
        return rest;
      };
      const std::string window = times(split(o, outs_[d]), p_.index(s_.strides[d]));
      const std::string step = times(split(k, p_.index(s_.kernel[d])), p_.index(s_.dilations[d]));
      const std::string at = minus(plus(window, step), pads_[d]);
      // A negative place is a very large one without its sign.
      const std::string is_in = p_.value(fmt::format("arith.cmpi ult, {}, {} : index", at, in_[d]));
      inside = p_.value(fmt::format("arith.andi {}, {} : i1", inside, is_in));
      place = plus(place, times(at, scale));
      scale = times(scale, in_[d]);
    }
    const std::string found = p_.value(fmt::format("arith.select {}, {}, {} : index", inside, place, p_.index(-1)));
    p_.line(fmt::format("memref.store {}, {}[{}] : memref<{}xindex>", found, where_, plus(times(tap, wide_), j),
                        taps_ * width_));
    p_.close("}");
    p_.close("}");
  }

  void start_with_bias(const std::string& first, const std::string& mask) {
    const std::string i = open_loop(p_.index(features_), one_);
    const std::string b = p_.loaded(s_.bias, plus(first_feature_, i));
    const std::string v = p_.value(fmt::format("vector.broadcast {} : {} to {}", b, element_, vector_));
    const std::string at = plus(plus(y_base_, times(i, places_)), first);
    p_.line(fmt::format("vector.maskedstore {}[{}], {}, {} : {}, vector<{}xi1>, {}", y_, at, mask, v, memref_, width_,
                        vector_));
    p_.close("}");
  }

  void copy_panel(const std::string& from, const std::string& count, const std::string& mask) {
    const std::string none = p_.constant("dense<0.0>", vector_);
    const std::string c = open_loop(count, one_);
    const std::string at = plus(from, times(c, plane_));
    const std::string v = p_.value(fmt::format("vector.maskedload {}[{}], {}, {} : {}, vector<{}xi1>, {} into {}", x_,
                                               at, mask, none, memref_, width_, vector_, vector_));
    p_.line(fmt::format("vector.store {}, {}[{}] : {}, {}", v, panel_, times(c, wide_), memref_, vector_));
    p_.close("}");
  }

  void fill_panel(const std::string& from, const std::string& count) {
    const std::string nothing = p_.constant("0.0", element_);
    const std::string c = open_loop(count, one_);
    const std::string base = plus(from, times(c, plane_)), row = times(c, p_.index(taps_ * width_));
    const std::string t = open_loop(p_.index(taps_ * width_), one_);
    const std::string place = p_.value(fmt::format("memref.load {}[{}] : memref<{}xindex>", where_, t, taps_ * width_));
    const std::string inside = p_.value(fmt::format("arith.cmpi sge, {}, {} : index", place, zero_));
    const std::string v = fmt::format("%k{}", next_++);
    p_.open(fmt::format("{} = scf.if {} -> ({}) {{", v, inside, element_));
    p_.line(fmt::format("scf.yield {} : {}",
                        p_.value(fmt::format("memref.load {}[{}] : {}", x_, plus(base, place), memref_)), element_));
    p_.close("} else {");
    p_.line(fmt::format("  scf.yield {} : {}", nothing, element_));
    p_.line("}");
    p_.line(fmt::format("memref.store {}, {}[{}] : {}", v, panel_, plus(row, t), memref_));
    p_.close("}");
    p_.close("}");
  }

  void tiles(const std::string& first, const std::string& columns, const std::string& q, const std::string& count,
             const std::string& adds) {
    const std::string six = p_.index(6), all = p_.index(features_), taps = p_.index(taps_);
    const std::string depth = p_.index(channels_ * taps_);
    const std::string i = open_loop(all, six);
    const std::string rows = least(minus(all, i), six);
    const std::string w_at = plus(plus(w_base_, times(i, depth)), times(q, taps));
    const std::string y_at = plus(plus(y_base_, times(i, places_)), first);
    p_.line(
        fmt::format("func.call @{}({}) : (index, index, index, {t}, index, index, index, {t}, index, index, {t}, "
                    "index, index, i1) -> ()",
                    p_.support().use("tile", type_),
                    fmt::join(std::vector<std::string>{rows, columns, times(count, taps), w_, w_at, depth, one_, panel_,
                                                       zero_, wide_, y_, y_at, places_, adds},
                              ", "),
                    fmt::arg("t", memref_)));
    p_.close("}");
  }

  Printer& p_;
  const Convolution& s_;
  DType type_;
  std::string element_, vector_, memref_;
  std::int64_t width_ = 16, taps_ = 1, channels_ = 1, features_ = 1, at_once_ = 1;
  std::string zero_, one_, wide_, panel_, where_, plane_, places_, x_, w_, y_;
  std::string x_base_, y_base_, w_base_, first_feature_;
  std::vector<std::string> in_, outs_, pads_;
  int next_ = 0;
};

}  // namespace

void print_convolution(Printer& p, const Convolution& s) {
  if (!print_by_channel(p, s)) ConvolutionPrinter(p, s).print();
}

}  // namespace ingot::backends::mlir
