// ingot._ingot: the C++ side of the package; python/ingot/__init__.py is what users see.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bind.h"
#include "cli/program.h"
#include "lock.h"

namespace {

int run_command(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return ingot::cli::run_program(static_cast<int>(arguments.size()), pointers.data());
}

}  // namespace

PYBIND11_MODULE(_ingot, m) {
  using namespace ingot::python;
  m.attr("__version__") = INGOT_VERSION;
  Inside::wait_at_the_end();
  bind_errors(m);
  bind_model(m);
  bind_verify(m);
  bind_convert(m);
  bind_quantize(m);
  bind_edit(m);
  bind_session(m);
  bind_trainer(m);
  bind_graph(m);
  // The program takes over the process: signals, limits and output are its own.
  m.def("main", &run_command, pybind11::arg("arguments"), "Runs the program 'ingot'; returns its exit code.");
}
