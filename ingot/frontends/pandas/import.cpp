// From a program over a data frame to a model.
#include "ingot/frontends/pandas/import.h"

#include "ingot/formats/python/syntax.h"
#include "ingot/frontends/boosting/ports.h"
#include "ingot/frontends/pandas/translator.h"

namespace ingot::frontends::pandas {
namespace {

void drop_unread(Graph& graph, std::vector<std::string>& notes) {
  std::string unread;
  for (const Value* input : graph.inputs())
    if (input->uses().empty()) unread += (unread.empty() ? "" : ", ") + input->name();
  if (unread.empty()) return;
  notes.push_back("columns that the program does not read: " + unread);
  graph.erase_inputs_if([](const Value& value) { return value.uses().empty(); });
}

}  // namespace

Imported import_program(std::string_view text, const ImportOptions& options) {
  const auto program = formats::python::parse(text);
  Imported made{boosting::new_model("frame"), {}};
  Translator translator(made.model, options);
  translator.g.set_metadata({{"ingot.stage", "preprocess"}});
  translator.run(program);
  translator.finish();
  boosting::finish_model(made.model);
  made.notes = translator.take_notes();
  drop_unread(*made.model.graph, made.notes);
  return made;
}

}  // namespace ingot::frontends::pandas
