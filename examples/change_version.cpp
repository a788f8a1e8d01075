// The same model in another operator set, with the types of all values: ingot_example_change_version IN OUT OPSET
#include <cstdio>
#include <cstdlib>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  ingot::Model model = ingot::load(argv[1]).model;
  ingot::AdjustOptions wanted;
  wanted.opset = std::atoll(argv[3]);
  wanted.infer_types = true;
  const ingot::AdjustReport report = ingot::adjust(model, wanted);
  for (const std::string& note : report.notes) std::printf("note: %s\n", note.c_str());
  ingot::save(model, argv[2]);
  std::printf("opset %lld, %zu nodes changed\n", static_cast<long long>(model.opsets.version("")),
              report.nodes_changed);
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
