// Python programs over data frames.
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/load.h"
#include "ingot/driver/pandas/sample.h"
#include "ingot/frontends/pandas/import.h"

namespace ingot::driver::rows {
namespace {

Certainty recognise_program(const Source& source) {
  return !source.is_directory && source.path.ends_with(".py") ? Certainty::likely : Certainty::no;
}

Imported load_program(const Source& source, const LoadOptions& options) {
  frontends::pandas::ImportOptions import;
  std::optional<pandas::SampleTable> sample;
  if (!options.import.data.empty()) {
    sample = pandas::read_sample(map_file(options.import.data));
    import.schema = sample->schema;
    import.on_sample = [&](const Model& model) { return pandas::run_on_sample(model, *sample);
  };
}
if (!options.import.schema.empty()) {
  import.schema = pandas::parse_schema(options.import.schema);
  if (sample && import.schema != sample->schema)
    throw Error(Code::bad_usage, "the sample does not have the columns of --schema").hint("give one of the two");
}
if (import.schema.empty())
  throw Error(Code::bad_usage, "what columns the frame has is not known")
      .hint("--data sample.csv or --schema age:int,name:text tells");
auto imported = frontends::pandas::import_program(source.contents.text(), import);
return {.model = std::move(imported.model), .notes = std::move(imported.notes)};
}  // namespace

constexpr std::string_view kExtensions[] = {".py"};

}  // namespace ingot::driver::rows

constinit const Format kPandasFormat = {
    .name = "pandas",
    .title = "pandas program",
    .extensions = kExtensions,
    .recognise = recognise_program,
    .load = load_program,
    .import_options = {Option::data, Option::schema},
    .is_one_file = true,
};

}  // namespace ingot::driver::rows
