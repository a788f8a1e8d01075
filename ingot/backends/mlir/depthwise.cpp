// Convolutions of each channel by itself: the channel is copied between zeros, and windows are whole vectors of it.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/mlir/convolution.h"
#include "ingot/backends/mlir/types.h"

namespace ingot::backends::mlir {

using namespace lower;

namespace {

constexpr std::int64_t kMostTaps = 32, kMostBytes = 1 << 20;  // of a channel with its edges

/// Sizes that are all known. A convolution of one axis has one row.
struct Sizes {
  std::int64_t in[2] = {1, 1}, out[2] = {1, 1}, kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1},
               pad[2] = {0, 0};

  std::int64_t needed(int d, std::int64_t outs) const {
    return (outs - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1;
  }
};

std::optional<Sizes> sizes_of(const Convolution& s) {
  Sizes z;
  const std::size_t rank = s.kernel.size();
  if (s.group != s.channels || s.features != s.channels || rank < 1 || rank > 2) return std::nullopt;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = i + 2 - rank;
    const auto in = s.in[i].as_int(), out = s.outs[i].as_int(), pad = s.pads[i].as_int();
    if (!in || !out || !pad || *pad < 0 || *in < 1 || *out < 1) return std::nullopt;
    z.in[d] = *in;
    z.out[d] = *out;
    z.pad[d] = *pad;
    z.kernel[d] = s.kernel[i];
    z.stride[d] = s.strides[i];
    z.dilation[d] = s.dilations[i];
  }
  if (z.stride[1] > 2 || z.kernel[0] * z.kernel[1] > kMostTaps || z.in[0] > 4096 || z.in[1] > 65536)
    return std::nullopt;
  return z;
}

class ChannelPrinter {
 public:
  ChannelPrinter(Printer& p, const Convolution& s, const Sizes& z)
      : p_(p), s_(s), z_(z), type_(p.program().buffers[static_cast<std::size_t>(s.out)].type) {
    element_ = m_type(type_).value;
    width_ = type_ == DType::f64 ? 8 : 16;
    vector_ = fmt::format("vector<{}x{}>", width_, element_);
    memref_ = memref_of(type_);
    const std::int64_t blocks = (z.out[1] + width_ - 1) / width_;
    // What is skipped between windows is read as well.
    pitch_ = std::max(z.needed(1, blocks * width_) + z.stride[1] * width_, z.pad[1] + z.in[1]);
    rows_ = std::max(z.needed(0, z.out[0]), z.pad[0] + z.in[0]);
  }

  bool fits() const { return rows_ * pitch_ * 8 <= kMostBytes; }

  void print() {
    const std::string zero = p_.index(0), one = p_.index(1), size = p_.index(rows_ * pitch_);
    const std::string memory = p_.local(fmt::format("memref<{}x{}>", rows_ * pitch_, element_));
    padded_ = p_.value(fmt::format("memref.cast {} : memref<{}x{}> to {}", memory, rows_ * pitch_, element_, memref_));
    const std::string nothing = p_.constant("0.0", element_);
    p_.open(fmt::format("scf.for %q = {} to {} step {} {{", zero, size, one));
    p_.line(fmt::format("memref.store {}, {}[%q] : {}", nothing, padded_, memref_));
    p_.close("}");
    const std::string channels = times(p_.expr(s_.batch), p_.index(s_.channels));
    p_.open(fmt::format("scf.for %channel = {} to {} step {} {{", zero, channels, one));
    copy_rows();
    windows();
    p_.close("}");
  }

 private:
  std::string plus(const std::string& a, const std::string& b) {
    return p_.value(fmt::format("arith.addi {}, {} : index", a, b));
  }
  std::string times(const std::string& a, const std::string& b) {
    return p_.value(fmt::format("arith.muli {}, {} : index", a, b));
  }

  void copy_rows() {
    const std::string zero = p_.index(0), one = p_.index(1);
    const std::string base = times("%channel", p_.index(z_.in[0] * z_.in[1])), x = p_.buffer(s_.x);
    p_.open(fmt::format("scf.for %row = {} to {} step {} {{", zero, p_.index(z_.in[0]), one));
    const std::string from = plus(base, times("%row", p_.index(z_.in[1])));
    const std::string to = plus(times("%row", p_.index(pitch_)), p_.index(z_.pad[0] * pitch_ + z_.pad[1]));
    p_.open(fmt::format("scf.for %q = {} to {} step {} {{", zero, p_.index(z_.in[1]), one));
    const std::string v = p_.value(fmt::format("memref.load {}[{}] : {}", x, plus(from, "%q"), memref_));
    p_.line(fmt::format("memref.store {}, {}[{}] : {}", v, padded_, plus(to, "%q"), memref_));
    p_.close("}");
    p_.close("}");
  }

  /// What one tap sees of as many windows as a vector holds.
  std::string seen(const std::string& at) {
    if (z_.stride[1] == 1) return p_.value(fmt::format("vector.load {}[{}] : {}, {}", padded_, at, memref_, vector_));
    const std::string twice = fmt::format("vector<{}x{}>", 2 * width_, element_);
    const std::string both = p_.value(fmt::format("vector.load {}[{}] : {}, {}", padded_, at, memref_, twice));
    const std::string name = fmt::format("%pair{}", next_++);
    p_.line(fmt::format("{}, {}_skipped = vector.deinterleave {} : {} -> {}", name, name, both, twice, vector_));
    return name;
  }

  void windows() {
    const std::string zero = p_.index(0), one = p_.index(1), w = p_.buffer(s_.w), y = p_.buffer(s_.out);
    const std::int64_t taps = z_.kernel[0] * z_.kernel[1];
    const std::string feature = p_.value(fmt::format("arith.remui %channel, {} : index", p_.index(s_.channels)));
    const auto spread = [&](const std::string& v) {
      return p_.value(fmt::format("vector.broadcast {} : {} to {}", v, element_, vector_));
    };
    std::vector<std::string> factors;
    const std::string first = times(feature, p_.index(taps));
    for (std::int64_t t = 0; t < taps; ++t) factors.push_back(spread(p_.loaded(s_.w, plus(first, p_.index(t)))));
    const std::string start = s_.bias >= 0 ? spread(p_.loaded(s_.bias, feature)) : p_.constant("dense<0.0>", vector_);
    const std::string base = times("%channel", p_.index(z_.out[0] * z_.out[1]));
    p_.open(fmt::format("scf.for %row = {} to {} step {} {{", zero, p_.index(z_.out[0]), one));
    const std::string from = times("%row", p_.index(z_.stride[0] * pitch_));
    const std::string to = plus(base, times("%row", p_.index(z_.out[1])));
    p_.open(fmt::format("scf.for %q = {} to {} step {} {{", zero, p_.index(z_.out[1]), p_.index(width_)));
    const std::string here = plus(from, times("%q", p_.index(z_.stride[1])));
    std::string sum = start;
    for (std::int64_t t = 0; t < taps; ++t) {
      const std::int64_t step = t / z_.kernel[1] * z_.dilation[0] * pitch_ + t % z_.kernel[1] * z_.dilation[1];
      const std::string v = seen(plus(here, p_.index(step)));
      sum = p_.value(fmt::format("vector.fma {}, {}, {} : {}", v, factors[static_cast<std::size_t>(t)], sum, vector_));
    }
    const std::string left = p_.value(fmt::format("arith.subi {}, %q : index", p_.index(z_.out[1])));
    const std::string mask = p_.value(fmt::format("vector.create_mask {} : vector<{}xi1>", left, width_));
    p_.line(fmt::format("vector.maskedstore {}[{}], {}, {} : {}, vector<{}xi1>, {}", y, plus(to, "%q"), mask, sum,
                        memref_, width_, vector_));
    p_.close("}");
    p_.close("}");
  }

  Printer& p_;
  const Convolution& s_;
  const Sizes& z_;
  DType type_;
  std::string element_, vector_, memref_, padded_;
  std::int64_t width_ = 16, pitch_ = 0, rows_ = 0;
  int next_ = 0;
};

}  // namespace

bool print_by_channel(Printer& p, const Convolution& s) {
  const std::optional<Sizes> sizes = sizes_of(s);
  if (!sizes) return false;
  ChannelPrinter printer(p, s, *sizes);
  if (!printer.fits()) return false;
  printer.print();
  return true;
}

}  // namespace ingot::backends::mlir
