// Runs programs.
#include "ingot/engine/executor.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <stdexcept>

#include "ingot/base/error.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/channel_math.h"

namespace ingot::engine {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

std::string type_text(const Datum& datum) {
  if (const Array* array = datum.array()) return array->type().str();
  if (const Sequence* sequence = datum.sequence()) return "sequence of " + std::to_string(sequence->size());
  if (datum.map()) return "map";
  if (datum.sparse()) return "sparse tensor";
  return "-";
}

}  // namespace

Error no_memory() {
  return Error(Code::out_of_memory, "the system has no memory left").hint("smaller inputs, or more memory");
}

const Datum& Executor::find(const Frame& frame, const Ref& ref) {
  static const Datum absent;
  if (ref.slot == kNoSlot) return absent;
  const Frame* f = &frame;
  for (std::uint32_t i = 0; i < ref.depth; ++i) f = f->outer;
  return f->values[ref.slot];
}

std::vector<Datum> Executor::run_graph(const Graph& graph, const std::vector<Datum>& inputs) {
  const auto depth = budget_.enter_depth();
  budget_.poll();
  const Program& program = *programs_.at(&graph);
  Frame frame{program, frame_, first_values(program)};
  for (std::size_t i = 0; i < program.inputs.size() && i < inputs.size(); ++i)
    if (inputs[i]) frame.values[program.inputs[i]] = inputs[i];
  struct Entered {
    Executor& e;
    const Frame* outer;
    Entered(Executor& executor, const Frame& inner) : e(executor), outer(executor.frame_) {
      e.frame_ = &inner;
      ++e.depth_;
    }
    ~Entered() {
      e.frame_ = outer;
      --e.depth_;
    }
  } const entered(*this, frame);
  if (on_output_ && depth_ == 1)
    for (std::size_t i = 0; i < program.outputs.size(); ++i) announced_.emplace(program.outputs[i].slot, i);
  const std::span steps(program.steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (in_place_ && i == program.first_update && !can_update(steps.subspan(i), frame)) {
      in_place_->was_refused = true;
      break;
    }
    // A run that writes over its inputs must not be left halfway.
    if (!in_place_ || i < program.first_update) budget_.poll();
    run_step(steps[i], frame);
  }
  std::vector<Datum> results;
  results.reserve(program.outputs.size());
  for (const Ref& ref : program.outputs) results.push_back(find(frame, ref));
  if (depth_ > 1) give_back(program, std::move(frame.values));
  return results;
}

std::vector<Datum> Executor::first_values(const Program& program) {
  if (const auto spare = spare_values_.find(&program); spare != spare_values_.end() && !spare->second.empty())
    return std::move(spare->second);
  std::vector<Datum> values(program.slots.size());
  for (const Constant& constant : program.constants) values[constant.slot] = constant.value;
  return values;
}

void Executor::give_back(const Program& program, std::vector<Datum> values) {
  auto constant = program.constants.begin();
  for (std::uint32_t slot = 0; slot < values.size(); ++slot)
    if (constant != program.constants.end() && constant->slot == slot)
      ++constant;
    else
      values[slot] = {};
  // An input may stand before a constant, which is its default.
  for (const std::uint32_t slot : program.inputs) {
    const auto other = std::ranges::lower_bound(program.constants, slot, {}, &Constant::slot);
    if (other != program.constants.end() && other->slot == slot) values[slot] = other->value;
  }
  spare_values_[&program] = std::move(values);
}

void Executor::run_step(const Step& step, Frame& frame) {
  const Node& node = *step.node;
  while (operands_.size() <= static_cast<std::size_t>(depth_)) operands_.emplace_back();
  auto& [inputs, outputs] = operands_[static_cast<std::size_t>(depth_)];
  inputs.clear();
  outputs.clear();
  outputs.resize(step.outputs.size());
  for (const Ref& ref : step.inputs) inputs.push_back(find(frame, ref));
  ops::KernelContext context(node, inputs, outputs, *this);
  const auto start = profile_ ? Clock::now() : Clock::time_point();
  try {
    if (step.prepared)
      step.prepared->run(context, pool_);
    else
      step.op->kernel(context);
  } catch (Error& error) {
    error.in_node(node.name, node.op, node.label());
    throw;
  } catch (const std::bad_alloc&) {
    throw no_memory().in_node(node.name, node.op, node.label());
  } catch (const std::length_error&) {  // a container that no memory could hold
    throw no_memory().in_node(node.name, node.op, node.label());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (step.outputs[i] != kNoSlot) frame.values[step.outputs[i]] = std::move(outputs[i]);
  inputs.clear();
  if (profile_) note(step, frame, start);
  if (on_output_ && depth_ == 1) announce(step, frame);
  for (const std::uint32_t slot : step.dead) frame.values[slot] = {};
}

void Executor::announce(const Step& step, const Frame& frame) {
  for (const std::uint32_t slot : step.outputs)
    for (auto [it, end] = announced_.equal_range(slot); it != end; ++it) on_output_(it->second, frame.values[slot]);
}

bool Executor::can_update(std::span<const Step> updates, const Frame& frame) {
  std::atomic<bool> is_finite = true;
  for (const Step& step : updates)
    for (const Ref& ref : step.inputs) {
      const Array* array = find(frame, ref).array();
      if (!array || array->dtype() != DType::f32 || in_place_->memory.contains(array->bytes())) continue;
      const float* x = array->data<float>().data();
      constexpr std::int64_t kGrain = 1 << 17;
      pool_.parallel_for(array->size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        if (!is_all_finite(x + begin, end - begin)) is_finite = false;
      });
    }
  return is_finite;
}

void Executor::note(const Step& step, const Frame& frame, Clock::time_point start) {
  const auto end = Clock::now();
  NodeEvent event;
  event.node = step.node->name.empty() ? step.node->label() : step.node->name;
  event.op = step.node->domain.empty() ? step.node->op : step.node->domain + "." + step.node->op;
  event.kernel = step.kernel;
  for (const std::uint32_t slot : step.outputs)
    if (slot != kNoSlot) event.outputs += (event.outputs.empty() ? "" : ", ") + type_text(frame.values[slot]);
  event.start = microseconds(start - profile_->begin);
  event.duration = microseconds(end - start);
  event.depth = depth_ - 1;
  profile_->events.push_back(std::move(event));
}

}  // namespace ingot::engine
