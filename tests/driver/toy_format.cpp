// A format as a plug-in adds it: one row and what it points to.
#include "tests/driver/toy_format.h"

#include <filesystem>
#include <sstream>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/load.h"
#include "ingot/onnx/text.h"

namespace ingot::test {
namespace {

using driver::Certainty;
using driver::Option;
using driver::Source;

std::string inner_file(const Source& source) { return source.path + "/net.toy"; }

Certainty recognise_toy(const Source& source) {
  const bool is_one =
      source.is_directory ? std::filesystem::exists(inner_file(source)) : source.contents.text().starts_with("TOY1\n");
  return is_one ? Certainty::certain : Certainty::no;
}

driver::Imported load_toy(const Source& source, const driver::LoadOptions&) {
  std::istringstream lines(
      std::string(source.is_directory ? map_file(inner_file(source)).text() : source.contents.text()));
  std::string inputs, outputs, nodes, word;
  std::getline(lines, word);
  while (lines >> word) {
    std::string a, b;
    if (word == "in" && lines >> a >> b) {
      inputs += (inputs.empty() ? "float[" : ", float[") + b + "] " + a;
    } else if (word == "out" && lines >> a) {
      outputs += (outputs.empty() ? "float[N] " : ", float[N] ") + a;
    } else {
      std::string operands;
      lines >> a >> b;
      std::getline(lines, a);
      std::istringstream names(a);
      while (names >> a) operands += (operands.empty() ? "" : ", ") + a;
      nodes += word + " = " + b + "(" + operands + ") ";
    }
  }
  return {.model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 24]> toy (" + inputs + ") => (" + outputs +
                                    ") { " + nodes + "}"),
          .notes = {"toys are small"}};
}

std::vector<driver::ExportObstacle> obstacles(const Model& model, const driver::SaveOptions&) {
  std::vector<driver::ExportObstacle> list;
  for (const Node& node : model.graph->nodes())
    if (node.op != "Relu" && node.op != "Add") list.push_back({node.label(), node.op, "toys do not have it", ""});
  return list;
}

std::vector<std::string> save_toy(const Model& model, const std::string& path, const driver::SaveOptions& options) {
  for (const driver::ExportObstacle& o : obstacles(model, options))
    throw Error(Code::unsupported_type_in_target, o.op + ": " + o.reason);
  std::string text = "TOY1\n";
  for (const Value* v : model.graph->inputs())
    text += "in " + v->name() + " " + std::to_string(v->type.shape->at(0).value()) + "\n";
  for (const Node& node : model.graph->nodes()) {
    text += node.output()->name() + " = " + node.op;
    for (const Value* v : node.inputs()) text += " " + v->name();
    text += "\n";
  }
  for (const Value* v : model.graph->outputs()) text += "out " + v->name() + "\n";
  AtomicFile file(path);
  file.write(text);
  file.commit();
  return {"toys have no weights"};
}

constexpr std::string_view kExtensions[] = {".toy"};
constexpr driver::Vocabulary kOperators = {
    .name = "toy",
    .translated =
        [] {
          return std::vector<std::string>{"Add", "Relu"};
        },
    .exported =
        [] {
          return std::vector<driver::ExportLine>{{"ai.onnx", "Add", true}, {"ai.onnx", "Relu", true}};
        },
    .obstacles = obstacles};

constinit const driver::Format kToy = {
    .name = "toy",
    .title = "Toy",
    .extensions = kExtensions,
    .operators = &kOperators,
    .recognise = recognise_toy,
    .load = load_toy,
    .import_options = {Option::tag},
    .save = save_toy,
    .export_options = {Option::weights},
};

}  // namespace

void register_toy() {
  static const bool is_registered = [] {
    driver::register_format(kToy);
    return true;
  }();
  (void)is_registered;
}

}  // namespace ingot::test
