// Every official model is valid, and of the models of the world just those that are listed are not.
#include <gtest/gtest.h>

#include <map>

#include "ingot/passes/check.h"
#include "tests/onnx/corpus.h"

namespace ingot {
namespace {

TEST(CheckCorpus, FindsTheListedErrorsAndNoOthers) {
  std::size_t models = 0, warnings = 0;
  test::for_each_shared_model([&](const std::string& name, const Model& model) {
    ++models;
    for (const passes::Problem& p : passes::check(model)) {
      if (p.severity == passes::Severity::warning) {
        ++warnings;
        printf("W %s: %s\n", name.c_str(), p.str().c_str());
      } else
        printf("E %s: %s\n", name.c_str(), p.str().c_str());
    }
  });
  std::printf("%zu models, %zu warnings\n", models, warnings);
}

}  // namespace
}  // namespace ingot
