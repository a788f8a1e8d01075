// Convolutions through oneDNN, with what follows them fused in.
#include "ingot/engine/dnnl/convolution.h"

#include <map>
#include <mutex>

#include "ingot/base/error.h"
#include "ingot/engine/dnnl/memory.h"

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

struct Convolution::Ready {
  convolution_forward primitive;
  memory::desc source, weights, result, scratch;
  memory packed;
  int threads;
};

struct Convolution::State {
  ConvolutionSpec spec;
  Dims weight_dims;  // with the groups as first dimension if there are any
  Array weights, bias;
  std::mutex mutex;
  std::map<std::pair<Dims, int>, std::shared_ptr<const Ready>> ready;
  /// Packed weights by the layout that the primitives asked for: mostly one.
  std::vector<memory> packed;
};

Convolution::Convolution(ConvolutionSpec spec, const Array& weights, const Array* bias)
    : state_(std::make_unique<State>()) {
  state_->spec = std::move(spec);
  state_->weights = weights;
  if (bias) state_->bias = *bias;
  Dims dims = weights.dims();
  if (const std::int64_t groups = state_->spec.groups; groups > 1) {
    dims[0] /= groups;
    dims.insert(dims.begin(), groups);
  }
  state_->weight_dims = std::move(dims);
}

Convolution::~Convolution() = default;

Dims Convolution::output_dims(const Dims& input) const {
  const ConvolutionSpec& s = state_->spec;
  const Dims& weights = state_->weights.dims();
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

std::shared_ptr<const Convolution::Ready> Convolution::ready_for(const Dims& dims, int threads) const {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const auto it = s.ready.find({dims, threads}); it != s.ready.end()) return it->second;
  if (s.ready.size() >= kMostSizes) s.ready.clear();
  omp_set_num_threads(threads);
  const Dims out = output_dims(dims);
  const auto any = memory::format_tag::any;
  const memory::desc weights(s.weight_dims, memory::data_type::f32, any);
  const memory::desc bias =
      s.bias ? memory::desc({out[1]}, memory::data_type::f32, memory::format_tag::a) : memory::desc();
  auto ready = std::make_shared<Ready>();
  ready->source = floats(dims, s.spec.input_is_blocked);
  ready->result = floats(out, s.spec.output_is_blocked);
  const convolution_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm::convolution_direct, ready->source,
                                       weights, bias, ready->result, s.spec.strides, skipped(s.spec.dilations),
                                       s.spec.pads_begin, s.spec.pads_end);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (s.spec.has_residual) after.append_binary(algorithm::binary_add, ready->result);
  if (s.spec.has_limits) after.append_eltwise(1.0f, algorithm::eltwise_clip, s.spec.low, s.spec.high);
  attributes.set_post_ops(after);
  convolution_forward::primitive_desc chosen(desc, attributes, dnnl_cpu());
  ready->threads = is_same_on_any_threads(chosen.impl_info_str()) ? threads : 1;
  if (ready->threads != threads) {
    // How it divides the work depends on the threads that it sees here.
    omp_set_num_threads(1);
    chosen = convolution_forward::primitive_desc(desc, attributes, dnnl_cpu());
  }
  ready->weights = chosen.weights_desc();
  ready->scratch = chosen.scratchpad_desc();
  ready->primitive = convolution_forward(chosen);
  for (const memory& packed : s.packed)
    if (packed.get_desc() == ready->weights) ready->packed = packed;
  if (!ready->packed.get(true)) {
    Dims plain_strides(s.weight_dims.size(), 1);
    for (std::size_t i = plain_strides.size() - 1; i-- > 0;)
      plain_strides[i] = plain_strides[i + 1] * s.weight_dims[i + 1];
    const memory::desc plain(s.weight_dims, memory::data_type::f32, plain_strides);
    memory source = wrap(plain, s.weights.data<float>().data());
    ready->packed = memory(ready->weights, dnnl_cpu());
    dnnl::stream stream(dnnl_cpu());
    dnnl::reorder(source, ready->packed).execute(stream, source, ready->packed);
    stream.wait();
    s.packed.push_back(ready->packed);
  }
  return s.ready[{dims, threads}] = std::move(ready);
}

void Convolution::run(const float* x, const Dims& dims, const float* residual, float* y, int threads) const {
  try {
    const auto kept = ready_for(dims, threads);
    const Ready& ready = *kept;
    std::unordered_map<int, memory> arguments = {
        {DNNL_ARG_SRC, wrap(ready.source, x)}, {DNNL_ARG_WEIGHTS, ready.packed}, {DNNL_ARG_DST, wrap(ready.result, y)}};
    if (state_->bias) {
      const memory::desc desc(state_->bias.dims(), memory::data_type::f32, memory::format_tag::a);
      arguments.emplace(DNNL_ARG_BIAS, wrap(desc, state_->bias.data<float>().data()));
    }
    if (residual) arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, wrap(ready.result, residual));
    if (const std::size_t bytes = ready.scratch.get_size())
      arguments.emplace(DNNL_ARG_SCRATCHPAD, wrap(ready.scratch, room(bytes)));
    execute(ready.primitive, arguments, ready.threads);
  } catch (const dnnl::error& error) {
    rethrow(error);
  }
}

}  // namespace ingot::engine
