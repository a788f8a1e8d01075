// What is wrong with a model: ingot_example_check MODEL
#include <cstdio>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const auto problems = ingot::check(ingot::load(argv[1]).model);
  int errors = 0;
  for (const ingot::Problem& problem : problems) {
    errors += problem.severity == ingot::Severity::error;
    std::printf("%s\n", problem.str().c_str());
  }
  std::printf("%d errors\n", errors);
  return errors ? 1 : 0;
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
