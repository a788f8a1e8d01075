// What is the same in every run is computed when the plan is made.
#include "ingot/engine/rewrites/fold_constants.h"

#include "ingot/base/error.h"
#include "ingot/ops/kernel.h"
#include "ingot/passes/fold.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kMostFolded = 8 << 20;  // elements of one result: larger ones are made anew by each run

/// Lends memory of the plan to kernels.
class FoldHost final : public ops::KernelHost {
 public:
  FoldHost(Ledger& ledger, Budget& budget) : ledger_(ledger), budget_(budget) {}
  Array allocate(DType dtype, Dims dims) override {
    if (tensor_size(dims) > kMostFolded) throw Error(Code::memory_limit, "the result is too large to be kept");
    return ledger_.allocate(dtype, std::move(dims));
  }
  Budget& budget() override { return budget_; }
  std::vector<Datum> run_graph(const Graph&, const std::vector<Datum>&) override {
    throw Error(Code::execution_failed, "subgraphs are run at run time");
  }

 private:
  Ledger& ledger_;
  Budget& budget_;
};

}  // namespace

void fold_constants(Graph& root, Ledger& ledger, Budget& budget, std::function<bool(const Node&)> keeps) {
  FoldHost host(ledger, budget);
  passes::FoldOptions options;
  options.keeps = std::move(keeps);
  options.most_bytes = 8 * kMostFolded;
  options.is_for_running = true;
  passes::fold_constants(root, options, host);
}

}  // namespace ingot::engine
