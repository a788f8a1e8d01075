// Convolutions with changing weights and their gradients through oneDNN, in its own layouts between two reorders.
#include "ingot/engine/dnnl/trained_convolution.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/threads.h"
#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/dnnl/memory.h"

namespace ingot::engine {
namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

void run_here(const dnnl::primitive& primitive, const Arguments& arguments) {
  omp_set_num_threads(1);
  dnnl::stream stream(dnnl_cpu());
  primitive.execute(stream, arguments);
  stream.wait();
}

/// Row-major floats of any rank.
memory::desc plain(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  return {dims, memory::data_type::f32, strides};
}

memory::desc open(const Dims& dims) { return {dims, memory::data_type::f32, memory::format_tag::any}; }

/// A tensor as the user has it and as the primitive wants it.
struct Operand {
  memory::desc user, wanted;
  dnnl::reorder to_wanted, to_user;  // empty where both are the same

  Operand() = default;
  Operand(memory::desc theirs, const memory::desc& ours) : user(std::move(theirs)), wanted(ours) {
    if (user == wanted) return;
    to_wanted = dnnl::reorder(dnnl::reorder::primitive_desc(dnnl_cpu(), user, dnnl_cpu(), wanted));
    to_user = dnnl::reorder(dnnl::reorder::primitive_desc(dnnl_cpu(), wanted, dnnl_cpu(), user));
  }
  bool is_same() const { return user == wanted; }
  std::size_t floats() const { return (wanted.get_size() + 63) / 64 * 16; }
};

/// Memory of one thread, cut into pieces of whole cache lines.
class Pieces {
 public:
  explicit Pieces(std::size_t floats) : next_(room(floats * sizeof(float) + 64)) {
    next_ += (64 - reinterpret_cast<std::uintptr_t>(next_) % 64) % 64 / sizeof(float);
  }
  float* take(std::size_t floats) {
    float* piece = next_;
    next_ += floats;
    return piece;
  }

 private:
  float* next_;
};

memory to_wanted(const Operand& operand, const float* data, Pieces& pieces) {
  const memory given = wrap(operand.user, data);
  if (operand.is_same()) return given;
  const memory packed = wrap(operand.wanted, pieces.take(operand.floats()));
  run_here(operand.to_wanted, {{DNNL_ARG_FROM, given}, {DNNL_ARG_TO, packed}});
  return packed;
}

/// The weights as a primitive wants them, once for all parts.
struct WantedWeights {
  WantedWeights(const Operand& operand, const float* w, const TrainedConvolution::Host& host)
      : form(operand.wanted), data(wrap(operand.user, w)) {
    if (operand.is_same()) return;
    kept = host.allocate(static_cast<std::int64_t>(operand.floats()));
    const memory given = data;
    data = wrap(operand.wanted, kept.data<float>().data());
    run_here(operand.to_wanted, {{DNNL_ARG_FROM, given}, {DNNL_ARG_TO, data}});
  }
  /// For a part whose primitive may want another form.
  memory as(const Operand& operand, const float* w, Pieces& pieces) const {
    return operand.wanted == form ? data : to_wanted(operand, w, pieces);
  }

  memory::desc form;
  memory data;
  Array kept;
};

std::int64_t size_of(const Dims& dims) { return tensor_size(dims); }

/// How many images a part has: some eight parts, fewer where each would need many weights of its own.
std::int64_t part_size(std::int64_t images, std::int64_t weights, bool has_own_weights) {
  constexpr std::int64_t kParts = 8, kFewParts = 2, kManyWeights = 1 << 20;
  const std::int64_t parts = has_own_weights && weights > kManyWeights ? kFewParts : kParts;
  return std::max<std::int64_t>(1, (images + parts - 1) / parts);
}

}  // namespace

struct TrainedConvolution::Ready {
  dnnl::primitive primitive;
  Operand x, w, y;
  memory::desc scratch;

  std::size_t floats() const { return x.floats() + w.floats() + y.floats() + (scratch.get_size() + 63) / 64 * 16; }

  /// Runs the primitive with what it reads; `made` is what it makes, brought to `to` in plain form.
  void run(Arguments arguments, int argument, const Operand& made, float* to, Pieces& pieces) const {
    const memory result = wrap(made.user, to);
    const memory wanted = made.is_same() ? result : wrap(made.wanted, pieces.take(made.floats()));
    arguments.emplace(argument, wanted);
    arguments.emplace(DNNL_ARG_SCRATCHPAD, wrap(scratch, pieces.take(0)));
    run_here(primitive, arguments);
    if (!made.is_same()) run_here(made.to_user, {{DNNL_ARG_FROM, wanted}, {DNNL_ARG_TO, result}});
  }
};

struct TrainedConvolution::State {
  std::mutex mutex;
  std::map<Dims, std::shared_ptr<const Ready>> ready;
};

TrainedConvolution::TrainedConvolution() : state_(std::make_unique<State>()) {}
TrainedConvolution::~TrainedConvolution() = default;

std::shared_ptr<const TrainedConvolution::Ready> TrainedConvolution::ready_for(Pass pass, const ConvolutionShape& shape,
                                                                               std::int64_t images,
                                                                               bool has_bias) const {
  Dims key = {static_cast<std::int64_t>(pass), images, has_bias};
  for (const Dims* dims : {&shape.x, &shape.w, &shape.y, &shape.pads_begin})
    key.insert(key.end(), dims->begin() + (dims == &shape.x || dims == &shape.y ? 1 : 0), dims->end());
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const auto it = s.ready.find(key); it != s.ready.end()) return it->second;
  if (s.ready.size() >= kMostSizes) s.ready.clear();
  omp_set_num_threads(1);
  Dims x = shape.x, y = shape.y, w = shape.w;
  x[0] = y[0] = images;
  if (shape.groups > 1) {
    w[0] /= shape.groups;
    w.insert(w.begin(), shape.groups);
  }
  const auto direct = dnnl::algorithm::convolution_direct;
  const Dims skips = skipped(shape.dilations);
  const memory::desc bias =
      has_bias ? memory::desc({y[1]}, memory::data_type::f32, memory::format_tag::a) : memory::desc();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto kind = pass == Pass::forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const dnnl::convolution_forward::desc forward(kind, direct, open(x), open(w), bias, open(y), shape.strides, skips,
                                                shape.pads_begin, shape.pads_end);
  const dnnl::convolution_forward::primitive_desc ahead(forward, attributes, dnnl_cpu());
  auto made = std::make_shared<Ready>();
  if (pass == Pass::forward) {
    made->primitive = dnnl::convolution_forward(ahead);
    made->x = {plain(x), ahead.src_desc()};
    made->w = {plain(w), ahead.weights_desc()};
    made->y = {plain(y), ahead.dst_desc()};
    made->scratch = ahead.scratchpad_desc();
  } else if (pass == Pass::to_input) {
    const dnnl::convolution_backward_data::desc desc(direct, open(x), open(w), open(y), shape.strides, skips,
                                                     shape.pads_begin, shape.pads_end);
    const dnnl::convolution_backward_data::primitive_desc chosen(desc, attributes, dnnl_cpu(), ahead);
    made->primitive = dnnl::convolution_backward_data(chosen);
    made->x = {plain(x), chosen.diff_src_desc()};
    made->w = {plain(w), chosen.weights_desc()};
    made->y = {plain(y), chosen.diff_dst_desc()};
    made->scratch = chosen.scratchpad_desc();
  } else {
    const dnnl::convolution_backward_weights::desc desc(direct, open(x), open(w), open(y), shape.strides, skips,
                                                        shape.pads_begin, shape.pads_end);
    const dnnl::convolution_backward_weights::primitive_desc chosen(desc, attributes, dnnl_cpu(), ahead);
    made->primitive = dnnl::convolution_backward_weights(chosen);
    made->x = {plain(x), chosen.src_desc()};
    made->w = {plain(w), chosen.diff_weights_desc()};
    made->y = {plain(y), chosen.diff_dst_desc()};
    made->scratch = chosen.scratchpad_desc();
  }
  return s.ready[key] = std::move(made);
}

void TrainedConvolution::forward(const ConvolutionShape& shape, const float* x, const float* w, const float* bias,
                                 float* y, const Host& host) const try {
  const std::int64_t images = shape.x[0], part = part_size(images, 0, false);
  const std::int64_t x_size = size_of(shape.x) / images, y_size = size_of(shape.y) / images;
  const auto first = ready_for(Pass::forward, shape, std::min(part, images), bias != nullptr);
  const WantedWeights weights(first->w, w, host);
  host.pool.parallel_for(images, part, [&](std::int64_t begin, std::int64_t end) {
    host.budget.poll();
    const auto ready = ready_for(Pass::forward, shape, end - begin, bias != nullptr);
    Pieces pieces(ready->floats());
    Arguments arguments = {{DNNL_ARG_SRC, to_wanted(ready->x, x + begin * x_size, pieces)}};
    arguments.emplace(DNNL_ARG_WEIGHTS, weights.as(ready->w, w, pieces));
    if (bias) {
      const memory::desc desc({shape.y[1]}, memory::data_type::f32, memory::format_tag::a);
      arguments.emplace(DNNL_ARG_BIAS, wrap(desc, bias));
    }
    ready->run(std::move(arguments), DNNL_ARG_DST, ready->y, y + begin * y_size, pieces);
  });
} catch (const dnnl::error& error) {
  rethrow(error);
}

void TrainedConvolution::to_input(const ConvolutionShape& shape, const float* dy, const float* w, float* dx,
                                  const Host& host) const try {
  const std::int64_t images = shape.x[0], part = part_size(images, 0, false);
  const std::int64_t x_size = size_of(shape.x) / images, y_size = size_of(shape.y) / images;
  const auto first = ready_for(Pass::to_input, shape, std::min(part, images), false);
  const WantedWeights weights(first->w, w, host);
  host.pool.parallel_for(images, part, [&](std::int64_t begin, std::int64_t end) {
    host.budget.poll();
    const auto ready = ready_for(Pass::to_input, shape, end - begin, false);
    Pieces pieces(ready->floats());
    Arguments arguments = {{DNNL_ARG_DIFF_DST, to_wanted(ready->y, dy + begin * y_size, pieces)}};
    arguments.emplace(DNNL_ARG_WEIGHTS, weights.as(ready->w, w, pieces));
    ready->run(std::move(arguments), DNNL_ARG_DIFF_SRC, ready->x, dx + begin * x_size, pieces);
  });
} catch (const dnnl::error& error) {
  rethrow(error);
}

void TrainedConvolution::to_weights(const ConvolutionShape& shape, const float* x, const float* dy, float* dw,
                                    const Host& host) const try {
  const std::int64_t images = shape.x[0], part = part_size(images, size_of(shape.w), true);
  const std::int64_t x_size = size_of(shape.x) / images, y_size = size_of(shape.y) / images;
  const std::int64_t parts = (images + part - 1) / part;
  // A sum of its own for each part, then their sum in order: in plain form, since the last part may be smaller and
  // want another layout.
  const std::int64_t size = size_of(shape.w);
  Array sums = parts > 1 ? host.allocate(parts * size) : Array();
  float* first_sum = parts > 1 ? sums.mutable_data<float>().data() : dw;
  host.pool.parallel_for(images, part, [&](std::int64_t begin, std::int64_t end) {
    host.budget.poll();
    const auto ready = ready_for(Pass::to_weights, shape, end - begin, false);
    Pieces pieces(ready->floats());
    Arguments arguments = {{DNNL_ARG_SRC, to_wanted(ready->x, x + begin * x_size, pieces)}};
    arguments.emplace(DNNL_ARG_DIFF_DST, to_wanted(ready->y, dy + begin * y_size, pieces));
    ready->run(std::move(arguments), DNNL_ARG_DIFF_WEIGHTS, ready->w, first_sum + begin / part * size, pieces);
  });
  if (parts == 1) return;
  constexpr std::int64_t kGrain = 1 << 14;
  host.pool.parallel_for(size, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::copy(first_sum + begin, first_sum + end, dw + begin);
    for (std::int64_t p = 1; p < parts; ++p)
      for (std::int64_t i = begin; i < end; ++i) dw[i] += first_sum[p * size + i];
  });
} catch (const dnnl::error& error) {
  rethrow(error);
}

}  // namespace ingot::engine
