#pragma once
#include <deque>
#include <functional>
#include <unordered_map>

#include "ingot/base/error.h"
#include "ingot/engine/in_place.h"
#include "ingot/engine/ledger.h"
#include "ingot/engine/profile.h"
#include "ingot/engine/program.h"
#include "ingot/ops/generator/random.h"
#include "ingot/ops/kernel.h"

namespace ingot {
class ThreadPool;
}

namespace ingot::engine {

/// One run of a model: frames of values, kernels called step by step.
class Executor final : public FastHost, public ops::DrawingHost {
 public:
  Executor(const Programs& programs, Budget& budget, ThreadPool& pool, Recycler& recycler, Profile* profile,
           InPlace* in_place, std::uint64_t draw, std::function<void(std::size_t, const Datum&)> on_output)
      : programs_(programs),
        budget_(budget),
        pool_(pool),
        profile_(profile),
        in_place_(in_place),
        draw_(draw),
        on_output_(std::move(on_output)),
        ledger_(budget, &recycler) {}

  Array allocate(DType dtype, Dims dims) override { return ledger_.allocate(dtype, std::move(dims)); }
  Array allocate_raw(DType dtype, Dims dims) override { return ledger_.allocate_raw(dtype, std::move(dims)); }
  Budget& budget() override { return budget_; }
  InPlace* in_place() override { return in_place_; }
  std::vector<Datum> run_graph(const Graph& graph, const std::vector<Datum>& inputs) override;
  std::uint64_t draw() const override { return draw_; }

 private:
  struct Frame {
    const Program& program;
    const Frame* outer;
    std::vector<Datum> values;
  };

  /// What a step reads and makes: its memory is used again by the next step of the same depth.
  struct Operands {
    std::vector<Datum> inputs, outputs;
  };

  /// The values of a graph before its first step. Those of a body are used again, since a loop may run it often.
  std::vector<Datum> first_values(const Program& program);
  void give_back(const Program& program, std::vector<Datum> values);
  static const Datum& find(const Frame& frame, const Ref& ref);
  void run_step(const Step& step, Frame& frame);
  /// Whether the updates may begin: what they read, and do not replace, is finite.
  bool can_update(std::span<const Step> updates, const Frame& frame);
  void announce(const Step& step, const Frame& frame);
  void note(const Step& step, const Frame& frame, std::chrono::steady_clock::time_point start);

  const Programs& programs_;
  Budget& budget_;
  ThreadPool& pool_;
  Profile* profile_;
  InPlace* in_place_;
  std::uint64_t draw_;
  std::function<void(std::size_t, const Datum&)> on_output_;       // of the outermost graph; may be empty
  std::unordered_multimap<std::uint32_t, std::size_t> announced_;  // outputs by their slots
  Ledger ledger_;
  const Frame* frame_ = nullptr;  // the innermost
  int depth_ = 0;
  std::deque<Operands> operands_;                                        // by depth
  std::unordered_map<const Program*, std::vector<Datum>> spare_values_;  // constants alone
};

/// What a failed allocation is for the user.
Error no_memory();

}  // namespace ingot::engine
