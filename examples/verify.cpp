// Do two models give the same numbers? ingot_example_verify A B
#include <cstdio>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  ingot::VerifyRequest request;
  request.a.file = argv[1];
  request.b.file = argv[2];
  request.a.runtimes = request.b.runtimes = {ingot::Runtime::ingot};  // none: each file's own, see find_peers()
  const ingot::Verdict verdict = ingot::verify_models(request);
  for (const auto& output : verdict.outputs)
    std::printf("%s: %s (allowed: %s)\n", output.a_name.c_str(), output.figure.c_str(), output.threshold.c_str());
  if (verdict.first) std::printf("they part at %s\n", verdict.first->name.c_str());
  const bool is_same = verdict.answer == ingot::Verdict::Answer::same;
  std::printf("%s\n", is_same ? "the same" : "not the same");
  return is_same ? 0 : 1;
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
