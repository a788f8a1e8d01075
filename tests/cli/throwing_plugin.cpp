// A plug-in that breaks the rule: an exception leaves its kernel.
#include <ingot/ingot_plugin.h>

#include <stdexcept>

namespace {

int infer(const ingot_host* host, ingot_call* call) {
  ingot_tensor x;
  if (host->input(call, 0, &x) && x.rank >= 0) host->output(call, 0, x.type, x.rank, x.dims);
  return 0;
}

int run(const ingot_host*, ingot_call*) { throw std::runtime_error("out of here"); }

constexpr ingot_operator kOperators[] = {{sizeof(ingot_operator), "faulty.Op(x) -> (y)", infer, run, nullptr}};
constexpr ingot_plugin kPlugin = {
    sizeof(ingot_plugin), INGOT_PLUGIN_VERSION, "faulty", kOperators, 1, nullptr, 0, nullptr, 0};

}  // namespace

extern "C" const ingot_plugin* ingot_plugin_entry(void) { return &kPlugin; }
