// Convolutions through oneDNN, with what follows them fused in.
#include "ingot/engine/dnnl/convolution.h"

#include <cstring>
#include <map>
#include <mutex>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/dnnl/memory.h"
#include "ingot/engine/dnnl/parts.h"

namespace ingot::engine {

using dnnl::algorithm;
using dnnl::convolution_forward;
using dnnl::memory;

void rethrow(const dnnl::error& error) { throw Error(Code::execution_failed, std::string("oneDNN: ") + error.message); }

float* room(std::size_t bytes) {
  thread_local Array kept;
  if (!kept || kept.byte_size() < bytes) kept = Array(DType::u8, {static_cast<std::int64_t>(bytes)});
  return reinterpret_cast<float*>(kept.bytes());
}

namespace {

std::int64_t product(const Dims& dims, std::size_t first) {
  std::int64_t size = 1;
  for (std::size_t i = first; i < dims.size(); ++i) size *= dims[i];
  return size;
}

/// A convolution of so many output channels.
struct Primitive {
  convolution_forward primitive;
  memory::desc source, weights, bias, result, scratch;
  /// Where the library has no fast kernel for the layouts at hand, it works on plain copies of these sizes.
  memory::desc plain_source, plain_result;
  bool copies() const { return !plain_source.is_zero(); }
  /// Floats, in whole cache lines.
  std::size_t scratch_size() const { return (scratch.get_size() + 63) / 64 * 16; }
  std::size_t room_size() const {
    return scratch_size() + (plain_source.get_size() + plain_result.get_size()) / sizeof(float);
  }
};

/// What a primitive is called with. The library takes its time to make such objects, so they are used again.
struct Arguments {
  memory source, result, residual, scratch;  // their data are the run's
  std::unordered_map<int, memory> all;
};

/// Arguments that no run uses now.
class Shelf {
 public:
  std::unique_ptr<Arguments> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    std::unique_ptr<Arguments> taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }
  void put_back(std::unique_ptr<Arguments> arguments) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(arguments));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arguments>> free_;
};

/// Whether the library computes this element by element, some fifty times slower than its other ways.
bool is_slow(const convolution_forward::primitive_desc& chosen) {
  return std::string_view(chosen.impl_info_str()).starts_with("ref");
}

std::unique_ptr<Arguments> make_arguments(const Primitive& p, const memory& weights, const ConvolutionSpec& spec,
                                          const Channels& part, bool has_residual) {
  auto made = std::make_unique<Arguments>();
  const auto unset = [](const memory::desc& desc) { return memory(desc, dnnl_cpu(), DNNL_MEMORY_NONE); };
  made->source = unset(p.copies() ? p.plain_source : p.source);
  made->result = unset(p.copies() ? p.plain_result : p.result);
  made->all = {{DNNL_ARG_SRC, made->source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, made->result}};
  if (!spec.bias.empty()) made->all.emplace(DNNL_ARG_BIAS, wrap(p.bias, spec.bias.data() + part.first));
  if (has_residual) {
    made->residual = unset(p.result);
    made->all.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, made->residual);
  }
  if (p.scratch_size()) {
    made->scratch = unset(p.scratch);
    made->all.emplace(DNNL_ARG_SCRATCHPAD, made->scratch);
  }
  return made;
}

/// Counts the zeros that fill blocks among the channels.
void fill_blocks(ConvolutionSpec& spec, Dims& weights) {
  const auto whole = [](std::int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; };
  if (spec.input_is_blocked && spec.groups == 1) weights[1] = whole(weights[1]);
  if (!spec.output_is_blocked) return;
  const bool is_depthwise = spec.groups > 1 && weights[1] == 1 && spec.groups == weights[0];
  weights[0] = whole(weights[0]);
  if (is_depthwise) spec.groups = weights[0];
  if (!spec.factor.empty()) spec.factor.resize(static_cast<std::size_t>(weights[0]), 1);
  if (!spec.bias.empty()) spec.bias.resize(static_cast<std::size_t>(weights[0]), 0);
}

void reorder(memory from, memory to) {
  dnnl::stream stream(dnnl_cpu());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

}  // namespace

struct Convolution::Ready {
  Dims out;
  std::vector<std::shared_ptr<const Primitive>> primitives;  // by part; equal parts share one
  std::vector<memory> weights;                               // by part
  mutable std::vector<Shelf> shelves;                        // by part
};

struct Convolution::State {
  ConvolutionSpec spec;
  Dims stored_dims;             // of the weights
  Dims weight_dims;             // the same with the zeros that fill blocks
  Tensor weights;               // empty once all parts are packed
  std::vector<Channels> parts;  // of the output channels
  std::mutex mutex;
  std::map<Dims, std::shared_ptr<const Ready>> ready;  // by the size of one image
  std::vector<std::vector<memory>> packed;  // of each part, in the layouts that primitives asked for: mostly one

  bool is_depthwise() const { return weight_dims[1] == 1 && spec.groups == weight_dims[0]; }
  std::int64_t outputs_per_group() const { return weight_dims[0] / spec.groups; }
  /// The input channels that some output channels read.
  Channels inputs_of(const Channels& part) const {
    if (spec.groups == 1) return {0, weight_dims[1]};
    return {part.first / outputs_per_group() * weight_dims[1], part.count / outputs_per_group() * weight_dims[1]};
  }
  /// Weights of some output channels as oneDNN counts their dimensions: groups first if there are any.
  Dims dims_of(const Channels& part) const {
    Dims dims = weight_dims;
    dims[0] = part.count;
    if (spec.groups > 1) {
      dims[0] = outputs_per_group();
      dims.insert(dims.begin(), part.count / outputs_per_group());
    }
    return dims;
  }

  std::shared_ptr<const Primitive> make(const Dims& image, const Dims& out, const Channels& part) const;
  memory pack(const Channels& part, const memory::desc& wanted) const;
};

Convolution::Convolution(ConvolutionSpec spec, Tensor weights) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.spec = std::move(spec);
  s.stored_dims = s.weight_dims = weights.dims();
  s.weights = std::move(weights);
  fill_blocks(s.spec, s.weight_dims);
  const std::int64_t out = s.weight_dims[0];
  // The library's kernels hold up to three blocks of output channels in registers for 1 x 1 filters, else four.
  const bool is_pointwise = product(s.weight_dims, 2) == 1;
  if (!s.spec.output_is_blocked)
    s.parts = {{0, out}};
  else if (s.spec.groups == 1)
    s.parts = is_pointwise       ? parts_of(out, kBlock, 3 * kBlock)
              : out > 4 * kBlock ? parts_of(out, 4 * kBlock, 4 * kBlock)
                                 : parts_of(out, 2 * kBlock, 2 * kBlock);
  else
    s.parts = parts_of(out, s.is_depthwise() ? kBlock : s.outputs_per_group(), 2 * kBlock);
  s.packed.resize(s.parts.size());
}

Convolution::~Convolution() = default;

void Convolution::forget_weights() { state_->weights = {}; }

Dims Convolution::output_dims(const Dims& input) const {
  const ConvolutionSpec& s = state_->spec;
  const Dims& weights = state_->weight_dims;
  if (input.size() != weights.size() || input[1] != weights[1] * s.groups)
    throw Error(Code::bad_shape, "the input does not have the channels of the weights");
  Dims out = {input[0], weights[0]};
  for (std::size_t i = 2; i < input.size(); ++i) {
    const std::int64_t reach = s.dilations[i - 2] * (weights[i] - 1) + 1;
    const std::int64_t room = input[i] + s.pads_begin[i - 2] + s.pads_end[i - 2] - reach;
    if (room < 0) throw Error(Code::bad_shape, "the kernel is larger than the padded input");
    out.push_back(room / s.strides[i - 2] + 1);
  }
  return out;
}

std::shared_ptr<const Primitive> Convolution::State::make(const Dims& image, const Dims& out,
                                                          const Channels& part) const {
  Dims from = image, to = out;
  from[1] = inputs_of(part).count;
  to[1] = part.count;
  auto made = std::make_shared<Primitive>();
  made->source = floats(from, spec.input_is_blocked);
  made->result = floats(to, spec.output_is_blocked);
  const memory::desc weights_desc(dims_of(part), memory::data_type::f32, memory::format_tag::any);
  if (!spec.bias.empty()) made->bias = memory::desc({part.count}, memory::data_type::f32, memory::format_tag::a);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (spec.has_residual) after.append_binary(algorithm::binary_add, made->result);
  if (spec.has_limits) after.append_eltwise(1.0f, algorithm::eltwise_clip, spec.low, spec.high);
  attributes.set_post_ops(after);
  const auto choose = [&](const memory::desc& source, const memory::desc& result) {
    const convolution_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm::convolution_direct, source,
                                         weights_desc, made->bias, result, spec.strides, skipped(spec.dilations),
                                         spec.pads_begin, spec.pads_end);
    return convolution_forward::primitive_desc(desc, attributes, dnnl_cpu());
  };
  convolution_forward::primitive_desc chosen = choose(made->source, made->result);
  if (is_slow(chosen) && !spec.has_residual && (spec.input_is_blocked || spec.output_is_blocked)) {
    const memory::desc plain_source = floats(from, false), plain_result = floats(to, false);
    const auto plain = choose(plain_source, plain_result);
    if (!is_slow(plain)) {
      chosen = plain;
      made->plain_source = plain_source;
      made->plain_result = plain_result;
    }
  }
  made->weights = chosen.weights_desc();
  made->scratch = chosen.scratchpad_desc();
  made->primitive = convolution_forward(chosen);
  return made;
}

memory Convolution::State::pack(const Channels& part, const memory::desc& wanted) const {
  use_one_thread();
  memory result(wanted, dnnl_cpu());
  const auto& layouts = packed[static_cast<std::size_t>(&part - parts.data())];
  if (!layouts.empty()) {
    reorder(layouts.front(), result);
    return result;
  }
  const Dims dims = dims_of(part);
  const std::int64_t each = product(weight_dims, 1);
  const std::int64_t stored = product(stored_dims, 1);
  std::vector<float> plain(static_cast<std::size_t>(part.count * each));
  for (std::int64_t i = 0; i < std::min(part.count, stored_dims[0] - part.first); ++i)
    std::memcpy(plain.data() + i * each,
                weights.bytes().data() + static_cast<std::size_t>((part.first + i) * stored) * sizeof(float),
                static_cast<std::size_t>(stored) * sizeof(float));
  if (!spec.factor.empty())
    for (std::int64_t channel = 0; channel < part.count; ++channel) {
      const float factor = spec.factor[static_cast<std::size_t>(part.first + channel)];
      float* row = plain.data() + channel * each;
      for (std::int64_t i = 0; i < each; ++i) row[i] *= factor;
    }
  Dims strides(dims.size(), 1);
  for (std::size_t i = strides.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  reorder(wrap(memory::desc(dims, memory::data_type::f32, strides), plain.data()), result);
  return result;
}

std::shared_ptr<const Convolution::Ready> Convolution::ready_for(const Dims& image, ThreadPool& pool) const {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const auto it = s.ready.find(image); it != s.ready.end()) return it->second;
  if (s.ready.size() >= kMostSizes) s.ready.clear();
  use_one_thread();
  auto ready = std::make_shared<Ready>();
  ready->out = output_dims(image);
  const std::size_t count = s.parts.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_like_last = i > 0 && s.parts[i].count == s.parts[i - 1].count;
    ready->primitives.push_back(is_like_last ? ready->primitives.back() : s.make(image, ready->out, s.parts[i]));
  }
  ready->weights.resize(count);
  ready->shelves = std::vector<Shelf>(count);
  pool.parallel_for(static_cast<std::int64_t>(count), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const memory::desc& wanted = ready->primitives[i]->weights;
      for (const memory& known : s.packed[i])
        if (known.get_desc() == wanted) ready->weights[i] = known;
      if (ready->weights[i].get(true)) continue;
      ready->weights[i] = s.pack(s.parts[i], wanted);
      s.packed[i].push_back(ready->weights[i]);
    }
  });
  if (s.weights) {
    drop_pages(s.weights.bytes());
    s.weights = {};
  }
  return s.ready[image] = std::move(ready);
}

void Convolution::run(const float* x, const Dims& dims, const float* residual, float* y, ThreadPool& pool,
                      const Budget& budget) const try {
  const State& s = *state_;
  Dims image = dims;
  image[0] = 1;
  const auto kept = ready_for(image, pool);
  const Ready& ready = *kept;
  const std::int64_t in_plane = product(dims, 2), out_plane = product(ready.out, 2);
  const auto count = std::ssize(s.parts);
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      budget.poll();
      const auto at = static_cast<std::size_t>(i % count);
      const Channels& part = s.parts[at];
      const Primitive& p = *ready.primitives[at];
      const std::int64_t out = (i / count * s.weight_dims[0] + part.first) * out_plane;
      const std::int64_t in = (i / count * dims[1] + s.inputs_of(part).first) * in_plane;
      // One room for all: the scratch memory first, then the copies.
      float* const scratch = p.room_size() ? room(p.room_size() * sizeof(float)) : nullptr;
      float* const plain_x = scratch + p.scratch_size();
      float* const plain_y = plain_x + p.plain_source.get_size() / sizeof(float);
      if (p.copies()) reorder(wrap(p.source, x + in), wrap(p.plain_source, plain_x));
      auto arguments = ready.shelves[at].take();
      if (!arguments) arguments = make_arguments(p, ready.weights[at], s.spec, part, residual != nullptr);
      const auto set = [](memory& to, const float* data) { to.set_data_handle(const_cast<float*>(data)); };
      set(arguments->source, p.copies() ? plain_x : x + in);
      set(arguments->result, p.copies() ? plain_y : y + out);
      if (residual) set(arguments->residual, residual + out);
      if (p.scratch_size()) set(arguments->scratch, scratch);
      execute(p.primitive, arguments->all);
      ready.shelves[at].put_back(std::move(arguments));
      if (p.copies()) reorder(wrap(p.plain_result, plain_y), wrap(p.result, y + out));
      for (const ElementStep& step : s.spec.functions)
        apply(step.unary, y + out, y + out, part.count * out_plane, step.a, step.b);
    }
  };
  // It does not pay to wake another thread for little work.
  constexpr double kSmall = 1 << 18;  // multiplications
  const double multiplications =
      static_cast<double>(dims[0] * s.weight_dims[0] * out_plane * product(s.weight_dims, 1));
  pool.parallel_for(dims[0] * count, multiplications < kSmall ? dims[0] * count : 1, work);
} catch (const dnnl::error& error) {
  rethrow(error);
}

}  // namespace ingot::engine
