// Pools of blocked floats through oneDNN.
#include <map>
#include <mutex>

#include "ingot/base/error.h"
#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/dnnl/memory.h"

namespace ingot::engine {

using dnnl::memory;
using dnnl::pooling_v2_forward;

struct PoolingWindow::Ready {
  pooling_v2_forward primitive;
  memory::desc source, result, scratch;
};

struct PoolingWindow::State {
  PoolingSpec spec;
  std::mutex mutex;
  std::map<std::pair<Dims, int>, std::shared_ptr<const Ready>> ready;
};

PoolingWindow::PoolingWindow(PoolingSpec spec) : state_(std::make_unique<State>()) { state_->spec = std::move(spec); }
PoolingWindow::~PoolingWindow() = default;

Dims PoolingWindow::output_dims(const Dims& input) const {
  const PoolingSpec& s = state_->spec;
  if (input.size() != s.kernel.size() + 2) throw Error(Code::bad_shape, "the input does not have the kernel's rank");
  Dims out = {input[0], input[1]};
  for (std::size_t i = 0; i < s.kernel.size(); ++i) {
    const std::int64_t reach = s.dilations[i] * (s.kernel[i] - 1) + 1;
    const std::int64_t room = input[i + 2] + s.pads_begin[i] + s.pads_end[i] - reach;
    if (room < 0) throw Error(Code::bad_shape, "the kernel is larger than the padded input");
    out.push_back(room / s.strides[i] + 1);
  }
  return out;
}

std::shared_ptr<const PoolingWindow::Ready> PoolingWindow::ready_for(const Dims& dims, int threads) const {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const auto it = s.ready.find({dims, threads}); it != s.ready.end()) return it->second;
  if (s.ready.size() >= kMostSizes) s.ready.clear();
  omp_set_num_threads(threads);
  auto ready = std::make_shared<Ready>();
  ready->source = floats(dims, true);
  ready->result = floats(output_dims(dims), true);
  const auto kind = s.spec.kind == Pooling::max       ? dnnl::algorithm::pooling_max
                    : s.spec.kind == Pooling::average ? dnnl::algorithm::pooling_avg_exclude_padding
                                                      : dnnl::algorithm::pooling_avg_include_padding;
  const pooling_v2_forward::desc desc(dnnl::prop_kind::forward_inference, kind, ready->source, ready->result,
                                      s.spec.strides, s.spec.kernel, skipped(s.spec.dilations), s.spec.pads_begin,
                                      s.spec.pads_end);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const pooling_v2_forward::primitive_desc chosen(desc, attributes, dnnl_cpu());
  ready->scratch = chosen.scratchpad_desc();
  ready->primitive = pooling_v2_forward(chosen);
  return s.ready[{dims, threads}] = std::move(ready);
}

void PoolingWindow::run(const float* x, const Dims& dims, float* y, int threads) const {
  try {
    const auto kept = ready_for(dims, threads);
    const Ready& ready = *kept;
    std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, wrap(ready.source, x)},
                                                 {DNNL_ARG_DST, wrap(ready.result, y)}};
    if (const std::size_t bytes = ready.scratch.get_size())
      arguments.emplace(DNNL_ARG_SCRATCHPAD, wrap(ready.scratch, room(bytes)));
    execute(ready.primitive, arguments, threads);
  } catch (const dnnl::error& error) {
    rethrow(error);
  }
}

}  // namespace ingot::engine
