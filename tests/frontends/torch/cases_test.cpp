// Small operator cases that PyTorch itself scripts and traces: converted, run, and compared with its results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "ingot/base/error.h"
#include "ingot/driver/array_file.h"
#include "ingot/driver/run.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

constexpr double kTolerance = 1e-5;  // of the largest value

struct Case {
  std::string name;
  std::size_t inputs = 0, outputs = 0;
  bool is_dynamic = false;  // the first size of each input is left open
};

std::vector<Case> read_cases(const test::TempDir& directory) {
  std::vector<Case> cases;
  std::istringstream lines(test::read_text(directory / "cases.txt"));
  Case one;
  while (lines >> one.name >> one.inputs >> one.outputs >> one.is_dynamic) cases.push_back(one);
  return cases;
}

std::string difference(const Array& ours, const Array& theirs) {
  if (ours.dims() != theirs.dims()) return "the shapes differ";
  if (ours.dtype() != theirs.dtype())
    return "the types differ: " + std::string(name_of(ours.dtype())) + " for " + std::string(name_of(theirs.dtype()));
  const std::vector<double> a = ours.to_doubles(), b = theirs.to_doubles();
  double scale = 1, worst = 0;
  for (const double v : b)
    if (std::isfinite(v)) scale = std::max(scale, std::fabs(v));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double off = std::fabs(a[i] - b[i]);
    worst = std::isfinite(off) ? std::max(worst, off) : INFINITY;
  }
  return worst <= kTolerance * scale ? "" : "off by " + std::to_string(worst) + " of " + std::to_string(scale);
}

std::string failure_of(const Case& one, const test::TempDir& directory, const std::string& extension) {
  driver::RunRequest request;
  request.model = directory / (one.name + extension);
  for (std::size_t i = 0; i < one.inputs; ++i) {
    const std::string name = "x" + std::to_string(i), path = directory / (one.name + "." + name + ".npy");
    if (one.is_dynamic) {
      const Array array = driver::load_npy(path);
      Shape shape(array.dims().begin(), array.dims().end());
      if (!shape.empty()) shape[0] = Dim::symbol("N");
      request.load.import.input_shapes.emplace_back(name, shape);
    }
    request.inputs.push_back(name + "=" + path);
  }
  try {
    const driver::RunResult result = driver::run(request);
    if (result.outputs.size() != one.outputs) return std::to_string(result.outputs.size()) + " outputs";
    for (std::size_t i = 0; i < one.outputs; ++i) {
      const Array theirs = driver::load_npy(directory / (one.name + ".y" + std::to_string(i) + ".npy"));
      const std::string off = difference(*result.outputs[i].value.array(), theirs);
      if (!off.empty()) return "output " + std::to_string(i) + ": " + off;
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// The beginnings of names of cases that are known not to agree: lines of "name: reason".
std::vector<std::string> read_exceptions(const std::string& file) {
  std::vector<std::string> names;
  std::istringstream lines(file.empty() ? "" : test::read_text(test::source_dir() / "tests/frontends/torch" / file));
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) names.push_back(line.substr(0, line.find(':')));
  return names;
}

/// Has a script of this folder write cases, and runs them all. INGOT_TORCH_CASES: only those with this in their names.
/// `exceptions` names a file of cases that need not agree; where it is given, operators without a translation need not
/// either. `at_least`: so many cases agree.
void expect_agreement(const std::string& script, const std::string& extension, std::size_t at_least,
                      const std::string& exceptions = "") {
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import torch' 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << "PyTorch is not here: script/bootstrap installs python3-torch";
  const test::TempDir directory;
  const char* filter = std::getenv("INGOT_TORCH_CASES");
  const std::string path = test::source_dir() / ("tests/frontends/torch/" + script);
  const std::string command =
      python + " '" + path + "' '" + directory.path().string() + "' '" + (filter ? filter : "") + "' 2> /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  std::size_t agree = 0;
  const std::vector<Case> cases = read_cases(directory);
  const std::vector<std::string> known = read_exceptions(exceptions);
  for (const Case& one : cases) {
    const std::string failure = failure_of(one, directory, extension);
    agree += failure.empty();
    if (!exceptions.empty() && failure.find("there is no translation for this operator") != std::string::npos) continue;
    if (std::ranges::any_of(known, [&](const std::string& name) { return one.name.starts_with(name); })) continue;
    EXPECT_TRUE(failure.empty()) << one.name << ": " << failure;
  }
  std::printf("%zu of %zu cases agree with PyTorch\n", agree, cases.size());
  EXPECT_GE(agree, filter ? 0 : at_least);
}

TEST(TorchScript, CasesGiveWhatPyTorchGives) { expect_agreement("cases.py", ".pt", 1080); }

TEST(TorchScript, SamplesOfPyTorchsOwnTestsGiveWhatPyTorchGives) {
  expect_agreement("operator_database.py", ".pt", 4300, "operator_database.txt");
}

TEST(TorchExport, CasesGiveWhatPyTorchGives) { expect_agreement("exported.py", ".pt2", 460); }

}  // namespace
}  // namespace ingot
