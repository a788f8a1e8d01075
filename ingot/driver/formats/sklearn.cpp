// Pickles, joblib and skops files of scikit-learn and of what fits into its pipelines.
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/load.h"
#include "ingot/formats/pickle/describe.h"
#include "ingot/formats/pickle/joblib.h"
#include "ingot/formats/pickle/skops.h"
#include "ingot/frontends/sklearn/import.h"

namespace ingot::driver::rows {
namespace {

namespace front = frontends::sklearn;
namespace pickle = formats::pickle;

/// How PyTorch's files of the old form begin, which are several pickles.
constexpr std::string_view kTorchMark = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

Certainty recognise_pickle(const Source& source) {
  if (source.is_directory) return Certainty::no;
  if (source.contents.text().starts_with(kTorchMark)) return Certainty::no;
  if (pickle::looks_like_pickle(source.contents) || pickle::looks_like_compressed_pickle(source.contents))
    return Certainty::likely;
  if (pickle::looks_like_skops(source.contents)) return Certainty::sure;
  return pickle::looks_like_old_pickle(source.contents) ? Certainty::possible : Certainty::no;
}

pickle::Document read_document(const Source& source, const LoadOptions& options) {
  if (pickle::looks_like_skops(source.contents)) return pickle::read_skops(source.contents, options.budget);
  return pickle::read(pickle::decompressed(source.contents, options.budget), {.budget = options.budget});
}

Imported load_pickle(const Source& source, const LoadOptions& options) {
  const pickle::Document document = read_document(source, options);
  front::ImportOptions import;
  import.wishes = {.raw_scores = options.import.raw_scores,
                   .zipmap = options.import.zipmap,
                   .decision_path = options.import.decision_path};
  import.is_single = options.import.precision == Precision::float32;
  front::Imported imported = front::import_model(document, import);
  return {.model = std::move(imported.model), .notes = std::move(imported.notes)};
}

FileContents describe_pickle(const Source& source, const LoadOptions& options) {
  const pickle::Document document = read_document(source, options);
  pickle::Description about = pickle::describe(document);
  if (about.is_cut) about.tree.emplace_back("...");
  FileContents contents;
  const auto add = [&](std::string title, std::vector<std::string> lines) {
    if (!lines.empty()) contents.sections.push_back({std::move(title), std::move(lines)});
  };
  add("written with", std::move(about.versions));
  const std::string kind = document.protocol > 0 || !pickle::looks_like_skops(source.contents)
                               ? "pickle of protocol " + std::to_string(document.protocol)
                               : std::string("skops file");
  add(kind + ", of which nothing was executed", std::move(about.tree));
  add("Python would have called", std::move(about.called));
  add("and looked up", std::move(about.imported));
  return contents;
}

constexpr std::string_view kExtensions[] = {".pkl", ".pickle", ".joblib", ".skops"};
constexpr Vocabulary kClasses = {.name = "sklearn", .translated = front::translated_classes};

}  // namespace

constinit const Format kSklearnFormat = {
    .name = "sklearn",
    .title = "scikit-learn pickle",
    .extensions = kExtensions,
    .operators = &kClasses,
    .recognise = recognise_pickle,
    .describe = describe_pickle,
    .load = load_pickle,
    .import_options = {Option::precision, Option::raw_scores, Option::zipmap, Option::decision_path},
    .is_one_file = true,
};

}  // namespace ingot::driver::rows
