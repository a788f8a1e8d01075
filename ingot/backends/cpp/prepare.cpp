// Weights laid out before the code is compiled, and memory for kernels.
#include "ingot/backends/cpp/prepare.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ingot/lower/walk.h"

namespace ingot::backends::cpp {

using namespace lower;

namespace {

std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

/// At most so many, fewer if that is known.
std::int64_t at_most(std::int64_t limit, const Expr& n) {
  return n.as_int() ? std::min(limit, std::max<std::int64_t>(*n.as_int(), 0)) : limit;
}

std::int64_t taps_of(const Convolution& s) {
  std::int64_t taps = 1;
  for (const std::int64_t k : s.kernel) taps *= k;
  return taps;
}

/// A matrix of numbers somewhere in a tensor.
struct Matrix {
  std::int64_t rows, columns, row_step, column_step, start = 0;
};

/// [rows / panel][columns][panel], zero where there is no row.
template <class T> void add_panels(std::span<const T> from, const Matrix& m, std::int64_t panel, std::vector<T>& to) {
  for (std::int64_t i = 0; i < m.rows; i += panel)
    for (std::int64_t t = 0; t < m.columns; ++t)
      for (std::int64_t r = i; r < i + panel; ++r)
        to.push_back(r < m.rows ? from[static_cast<std::size_t>(m.start + r * m.row_step + t * m.column_step)] : T{});
}

class Preparation {
 public:
  Preparation(Program& program, const Geometry& geometry) : program_(program), geometry_(geometry) {}

  void visit(Body& body) {
    for (Statement& s : body) {
      if (auto* product = std::get_if<Product>(&s.is)) prepare(*product);
      if (auto* convolution = std::get_if<Convolution>(&s.is)) prepare(*convolution);
      if (auto* loop = std::get_if<Loop>(&s.is)) visit(loop->body);
      if (auto* group = std::get_if<Group>(&s.is)) visit(group->body);
      if (auto* branch = std::get_if<Branch>(&s.is)) {
        visit(branch->yes);
        visit(branch->no);
      }
    }
  }

  void drop_unread() {
    std::vector<bool> is_read(program_.buffers.size(), false);
    for (const Statement& s : program_.body)
      for_each_buffer(s, [&](int tensor, bool) { is_read[static_cast<std::size_t>(tensor)] = true; });
    for (std::size_t i = 0; i < is_read.size(); ++i) {
      Buffer& b = program_.buffers[i];
      if (is_read[i] || b.role != Buffer::Role::weight) continue;
      b.role = Buffer::Role::scratch;
      b.value.reset();
      b.dims = {0};
    }
  }

 private:
  const Buffer& buffer(int tensor) const { return program_.buffers[static_cast<std::size_t>(tensor)]; }

  int scratch(DType type, std::int64_t elements) {
    if (elements == 0) return -1;
    Buffer b;
    b.type = type;
    b.dims = {elements};
    program_.buffers.push_back(std::move(b));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  /// The matrices of a weight in panels; the same ones once.
  int packed(int tensor, const std::vector<Matrix>& matrices, std::int64_t panel) {
    const Matrix& m = matrices[0];
    const auto key = std::make_tuple(tensor, matrices.size(), m.rows, m.columns, m.row_step, panel);
    if (const auto it = packed_.find(key); it != packed_.end()) return it->second;
    Buffer b = buffer(tensor);
    const auto fill = [&]<class T>(T) {
      std::vector<T> numbers;
      const std::vector<T> plain = b.value->to_vector<T>();
      for (const Matrix& each : matrices) add_panels<T>(plain, each, panel, numbers);
      const std::int64_t count = std::ssize(numbers);
      b.value = Tensor::of<T>({count}, numbers);
      b.dims = {count};
    };
    if (b.type == DType::f64)
      fill(double{});
    else
      fill(float{});
    program_.buffers.push_back(std::move(b));
    return packed_[key] = static_cast<int>(program_.buffers.size()) - 1;
  }

  /// Whether a factor is one constant matrix, small enough to count with.
  bool is_constant(int tensor, const Expr& start, const Expr& rows, const Expr& columns) const {
    const Buffer& b = buffer(tensor);
    return b.role == Buffer::Role::weight && b.value && start.as_int() == 0 && rows.as_int() && columns.as_int() &&
           *rows.as_int() * *columns.as_int() == b.value->size() && b.value->size() > 0;
  }

  void prepare(Product& s) {
    const DType type = buffer(s.out).type;
    if (is_constant(s.a, s.a_start, s.m, s.k)) {
      const std::int64_t m = *s.m.as_int(), k = *s.k.as_int();
      s.a = packed(s.a, {{m, k, s.a_transposed ? 1 : k, s.a_transposed ? m : 1}}, geometry_.rows);
      s.a_packed = true;
    }
    if (is_constant(s.b, s.b_start, s.k, s.n)) {
      const std::int64_t n = *s.n.as_int(), k = *s.k.as_int();
      s.b = packed(s.b, {{n, k, s.b_transposed ? k : 1, s.b_transposed ? 1 : n}}, geometry_.columns(type));
      s.b_packed = true;
    }
    const std::int64_t right =
        s.b_packed
            ? 0
            : at_most(geometry_.depth, s.k) *
                  round_up(at_most(std::max(geometry_.width, geometry_.columns(type)), s.n), geometry_.columns(type));
    s.scratch = scratch(type, right_room(s, geometry_) + right);
  }

  void prepare(Convolution& s) {
    const DType type = buffer(s.out).type;
    if (is_depthwise(s)) {
      s.scratch = scratch(type, plane_room(s));
      return;
    }
    const std::int64_t m = s.features / s.group, k = s.channels / s.group * taps_of(s);
    const Buffer& w = buffer(s.w);
    if (w.role == Buffer::Role::weight && w.value && w.value->size() == s.features * k && k > 0 && m > 0) {
      std::vector<Matrix> groups;
      for (std::int64_t g = 0; g < s.group; ++g) groups.push_back({m, k, k, 1, g * m * k});
      s.w = packed(s.w, groups, geometry_.rows);
      s.w_packed = true;
    }
    const std::int64_t nr = geometry_.columns(type);
    const std::int64_t places = at_most(std::max(geometry_.width, nr), product(s.outs));
    const std::int64_t panel = std::min(geometry_.depth, std::max<std::int64_t>(k, 1)) * round_up(places, nr);
    s.scratch = scratch(type, std::max<std::int64_t>(panel, 1) + (s.w_packed ? 0 : packed_weights(s, geometry_)));
  }

  static std::int64_t plane_room(const Convolution& s) {
    std::int64_t phases = 1, size = 1, wide = 1, high = 1;
    for (std::size_t i = 0; i < s.kernel.size(); ++i) {
      const std::int64_t out = *s.outs[i].as_int();
      const std::int64_t extent = ((out - 1) * s.strides[i] + (s.kernel[i] - 1) * s.dilations[i]) / s.strides[i] + 1;
      phases *= s.strides[i];
      size *= extent;
      wide = extent;
      high = out;
    }
    if (s.kernel.size() == 2) high = *s.outs[0].as_int();
    if (s.kernel.size() == 1) high = 1;
    return phases * size + high * wide + 2 * kDepthwiseSlack;
  }

  Program& program_;
  const Geometry& geometry_;
  std::map<std::tuple<int, std::size_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>, int> packed_;
};

}  // namespace

bool is_depthwise(const Convolution& s) {
  const bool is_alone = s.group == s.channels && s.channels > 0 && s.features % s.channels == 0 && s.features > 0;
  const auto is_positive = [](const Expr& e) { return e.as_int() && *e.as_int() > 0; };
  return is_alone && s.kernel.size() <= 2 && taps_of(s) <= kMostDepthwiseTaps && taps_of(s) > 0 &&
         std::ranges::all_of(s.in, is_positive) && std::ranges::all_of(s.outs, is_positive) &&
         std::ranges::all_of(s.pads, [](const Expr& e) { return e.as_int() && *e.as_int() >= 0; });
}

std::int64_t right_room(const Product& s, const Geometry& geometry) {
  if (s.a_packed || (s.m.as_int() && *s.m.as_int() <= 3)) return 0;
  return round_up(at_most(geometry.height, s.m), geometry.rows) * at_most(geometry.depth, s.k);
}

std::int64_t packed_weights(const Convolution& s, const Geometry& geometry) {
  return s.group * round_up(s.features / s.group, geometry.rows) * (s.channels / s.group) * taps_of(s);
}

Program prepared(const Program& program, const Geometry& geometry) {
  Program made = program;
  hold_results(made);
  Preparation preparation(made, geometry);
  preparation.visit(made.body);
  preparation.drop_unread();
  return made;
}

}  // namespace ingot::backends::cpp
