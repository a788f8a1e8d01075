// Tokenizers and other text operators of ai.onnx.contrib, with what their attributes hold read once.
#include "ingot/base/error.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/contrib/texts.h"

namespace ingot::engine {
namespace {

class PreparedText : public PreparedNode {
 public:
  explicit PreparedText(std::unique_ptr<ops::TextMachine> machine) : machine_(std::move(machine)) {}
  void run(ops::KernelContext& c, ThreadPool&) const override { machine_->run(c); }

 private:
  std::unique_ptr<ops::TextMachine> machine_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_text_machine(PrepareContext& c) {
  try {
    return std::make_unique<PreparedText>(ops::make_text_machine(c.node));
  } catch (const Error& error) {  // the reference kernel says it when the node is run
    return c.refuse(error.what());
  }
}

}  // namespace ingot::engine
