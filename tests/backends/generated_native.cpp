// Stored cases as native code that LLVM made, each a library of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "ingot/base/error.h"
#include "ingot/driver/compile.h"
#include "ingot/driver/load.h"
#include "ingot/driver/native_model.h"
#include "ingot/verify/compare.h"
#include "tests/backends/generated_cpp.h"

namespace ingot::test {
namespace {

/// The first difference between what the library gives and what is stored.
std::string run_sets(const GeneratedCase& c, const std::string& library, const Model& model) {
  driver::NativeModel native(library);
  for (std::size_t set = 0; set < verify::data_set_count(c.test); ++set) {
    verify::TestData data = verify::load_test_data(c.test, set, model);
    std::vector<driver::NamedDatum> inputs;
    for (auto& [name, value] : data.inputs) inputs.push_back({name, value});
    const auto outputs = driver::with_strings(native.run(inputs), model);
    if (outputs.size() != data.outputs.size()) return "has another number of outputs";
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Array* got = outputs[i].value.array();
      const Array* expected = data.outputs[i].array();
      if (!expected) return "an output is no tensor";
      if (got->dims() != expected->dims()) return "output " + std::to_string(i) + " has another shape";
      if (const auto what = verify::difference(outputs[i].value, data.outputs[i], c.test.tolerance))
        return "output " + std::to_string(i) + " " + *what;
    }
  }
  return "";
}

/// In a process of its own: native code may crash or never end.
std::string run_apart(const GeneratedCase& c, const std::string& library, const Model& model) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::string what;
    try {
      what = run_sets(c, library, model);
    } catch (const std::exception& error) {
      what = error.what();
    }
    if (write(ends[1], what.data(), std::min<std::size_t>(what.size(), 2000)) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string said(2000, '\0');
  std::size_t length = 0;
  for (ssize_t n = 0; (n = read(ends[0], said.data() + length, said.size() - length)) > 0;)
    length += static_cast<std::size_t>(n);
  close(ends[0]);
  said.resize(length);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "crashed: " + std::string(strsignal(WTERMSIG(status)));
  return said;
}

}  // namespace

void run_generated_native(std::vector<GeneratedCase>& cases) {
  const TempDir directory;
  for (GeneratedCase& c : cases) {
    c.name = "net";
    Model model, compiled;
    try {
      model = driver::load(c.test.model).model;
      compiled = model.clone();
      driver::CompileRequest request;
      request.output = directory / c.name;
      request.emit = "so";
      driver::compile(compiled, request);
    } catch (const Error& error) {
      c.problem = std::string(error.exit_code() == 4 ? "refused: " : "failed: ") + error.what();
      continue;
    } catch (const std::exception& error) {
      c.problem = std::string("failed: ") + error.what();
      continue;
    }
    c.problem = run_apart(c, directory / (c.name + ".so"), model);
  }
}

}  // namespace ingot::test
