// A plug-in that breaks the rule: exceptions leave its kernel, and what gives back the bytes of its format.
#include <ingot/ingot_plugin.h>

#include <stdexcept>

namespace {

int infer(const ingot_host* host, ingot_call* call) {
  ingot_tensor x;
  if (host->input(call, 0, &x) && x.rank >= 0) host->output(call, 0, x.type, x.rank, x.dims);
  return 0;
}

int run(const ingot_host*, ingot_call*) { throw std::runtime_error("out of here"); }

void give_back(ingot_bytes*) { throw std::runtime_error("not that"); }

int write(const void*, std::size_t, ingot_bytes* contents, char*, std::size_t) {
  *contents = {"text", 4, give_back};
  return 0;
}

constexpr ingot_format kFormats[] = {
    {sizeof(ingot_format), "throwing", "what throws", ".throwing", nullptr, nullptr, write}};
constexpr ingot_operator kOperators[] = {{sizeof(ingot_operator), "faulty.Op(x) -> (y)", infer, run, nullptr}};
constexpr ingot_plugin kPlugin = {
    sizeof(ingot_plugin), INGOT_PLUGIN_VERSION, "faulty", kOperators, 1, kFormats, 1, nullptr, 0};

}  // namespace

extern "C" const ingot_plugin* ingot_plugin_entry(void) { return &kPlugin; }
