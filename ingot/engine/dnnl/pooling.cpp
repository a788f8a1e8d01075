// Pools of blocked floats through oneDNN.
#include <map>
#include <mutex>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/threads.h"
#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/dnnl/memory.h"
#include "ingot/engine/dnnl/parts.h"

namespace ingot::engine {

using dnnl::memory;
using dnnl::pooling_v2_forward;

namespace {

/// A pool of so many channels.
struct Primitive {
  pooling_v2_forward primitive;
  memory::desc source, result, scratch;
};

}  // namespace

struct PoolingWindow::Ready {
  std::vector<Channels> parts;
  std::vector<std::shared_ptr<const Primitive>> primitives;  // by part; equal parts share one
};

struct PoolingWindow::State {
  PoolingSpec spec;
  std::mutex mutex;
  std::map<Dims, std::shared_ptr<const Ready>> ready;  // by the size of one image
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

std::shared_ptr<const PoolingWindow::Ready> PoolingWindow::ready_for(const Dims& image) const {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const auto it = s.ready.find(image); it != s.ready.end()) return it->second;
  if (s.ready.size() >= kMostSizes) s.ready.clear();
  use_one_thread();
  auto ready = std::make_shared<Ready>();
  ready->parts = parts_of(image[1], kBlock, kBlock);
  for (const Channels& part : ready->parts) {
    Dims from = image;
    from[1] = part.count;
    if (!ready->primitives.empty() && part.count == ready->parts[0].count) {
      ready->primitives.push_back(ready->primitives[0]);
      continue;
    }
    auto made = std::make_shared<Primitive>();
    made->source = floats(from, true);
    made->result = floats(output_dims(from), true);
    const auto kind = s.spec.kind == Pooling::max       ? dnnl::algorithm::pooling_max
                      : s.spec.kind == Pooling::average ? dnnl::algorithm::pooling_avg_exclude_padding
                                                        : dnnl::algorithm::pooling_avg_include_padding;
    const pooling_v2_forward::desc desc(dnnl::prop_kind::forward_inference, kind, made->source, made->result,
                                        s.spec.strides, s.spec.kernel, skipped(s.spec.dilations), s.spec.pads_begin,
                                        s.spec.pads_end);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const pooling_v2_forward::primitive_desc chosen(desc, attributes, dnnl_cpu());
    made->scratch = chosen.scratchpad_desc();
    made->primitive = pooling_v2_forward(chosen);
    ready->primitives.push_back(std::move(made));
  }
  return s.ready[image] = std::move(ready);
}

void PoolingWindow::run(const float* x, const Dims& dims, float* y, ThreadPool& pool, const Budget& budget) const try {
  Dims image = dims;
  image[0] = 1;
  const auto kept = ready_for(image);
  const Ready& ready = *kept;
  const Dims out_dims = output_dims(dims);
  std::int64_t in_plane = 1, out_plane = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) {
    in_plane *= dims[i];
    out_plane *= out_dims[i];
  }
  const auto count = std::ssize(ready.parts);
  pool.parallel_for(dims[0] * count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      budget.poll();
      const auto at = static_cast<std::size_t>(i % count);
      const Primitive& p = *ready.primitives[at];
      const std::int64_t channel = i / count * dims[1] + ready.parts[at].first;
      std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, wrap(p.source, x + channel * in_plane)},
                                                   {DNNL_ARG_DST, wrap(p.result, y + channel * out_plane)}};
      if (const std::size_t bytes = p.scratch.get_size())
        arguments.emplace(DNNL_ARG_SCRATCHPAD, wrap(p.scratch, room(bytes)));
      execute(p.primitive, arguments);
    }
  });
} catch (const dnnl::error& error) {
  rethrow(error);
}

}  // namespace ingot::engine
