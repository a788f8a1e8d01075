// Model files of XGBoost, LightGBM, CatBoost, libsvm and liblinear.
#include <utility>

#include "ingot/driver/formats/rows.h"
#include "ingot/driver/load.h"
#include "ingot/formats/boosting/json.h"
#include "ingot/formats/boosting/model.h"
#include "ingot/formats/boosting/svm.h"
#include "ingot/frontends/boosting/import.h"

namespace ingot::driver::rows {
namespace {

namespace files = formats::boosting;
namespace front = frontends::boosting;

constexpr std::size_t kLooked = 1 << 20;  // bytes in which a file tells what it is

std::string_view head_of(const Source& source) {
  return source.is_directory ? std::string_view() : source.contents.text().substr(0, kLooked);
}

bool is_object(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

Certainty recognise_xgboost(const Source& source) {
  const std::string_view head = head_of(source);
  if (files::looks_like_ubjson(head)) {
    if (head.find("learner") != std::string_view::npos) return Certainty::sure;
  } else if (is_object(head)) {  // files of all kinds come here: only what begins as JSON is searched to its end
    const bool has_words = head.find("\"learner\"") != std::string_view::npos ||
                           source.contents.text().find("\"gradient_booster\"") != std::string_view::npos;
    if (has_words) return Certainty::sure;
  }
  return !source.is_directory && files::looks_like_xgboost_binary(source.contents) ? Certainty::sure : Certainty::no;
}

Certainty recognise_lightgbm(const Source& source) {
  const std::string_view head = head_of(source);
  return head.starts_with("tree\n") || head.starts_with("tree\r\n") ? Certainty::certain : Certainty::no;
}

Certainty recognise_catboost(const Source& source) {
  if (!source.is_directory && files::looks_like_catboost_binary(source.contents)) return Certainty::certain;
  const std::string_view head = head_of(source);
  if (!is_object(head)) return Certainty::no;
  const std::string_view all = source.contents.text();
  return all.find("\"features_info\"") != std::string_view::npos ? Certainty::sure : Certainty::no;
}

Certainty recognise_libsvm(const Source& source) {
  return head_of(source).starts_with("svm_type ") ? Certainty::certain : Certainty::no;
}

Certainty recognise_liblinear(const Source& source) {
  return head_of(source).starts_with("solver_type ") ? Certainty::certain : Certainty::no;
}

front::ImportOptions options_of(const LoadOptions& options) {
  return {.wishes = {.raw_scores = options.import.raw_scores, .zipmap = options.import.zipmap},
          .is_single = options.import.precision == Precision::float32};
}

Imported made_of(front::Imported imported) {
  return {.model = std::move(imported.model), .notes = std::move(imported.notes)};
}

Imported load_xgboost(const Source& source, const LoadOptions& options) {
  files::Model model = files::read_xgboost(source.contents, options.budget);
  const std::int64_t best = std::exchange(model.best_rounds, 0);  // Booster.predict uses all rounds
  front::Imported made = front::import_model(model, options_of(options));
  if (best > 0)
    made.notes.push_back("of all rounds, as Booster.predict has it; the file calls the first " + std::to_string(best) +
                         " the best, which XGBoost's wrappers for scikit-learn would use alone");
  return made_of(std::move(made));
}

Imported load_lightgbm(const Source& source, const LoadOptions& options) {
  return made_of(
      front::import_model(files::read_lightgbm(source.contents.text(), options.budget), options_of(options)));
}

Imported load_catboost(const Source& source, const LoadOptions& options) {
  if (files::looks_like_catboost_binary(source.contents))
    return made_of(front::import_model(files::read_catboost_binary(source.contents), options_of(options)));
  const files::Json json = files::parse_json(source.contents.text(), options.budget);
  return made_of(front::import_model(files::read_catboost(json), options_of(options)));
}

Imported load_libsvm(const Source& source, const LoadOptions& options) {
  return made_of(front::import_libsvm(files::read_libsvm(source.contents.text(), options.budget), options_of(options)));
}

Imported load_liblinear(const Source& source, const LoadOptions& options) {
  return made_of(front::import_liblinear(files::read_liblinear(source.contents.text()), options_of(options)));
}

constexpr std::string_view kXgboostExtensions[] = {".ubj", ".xgb"};
constexpr std::string_view kLightgbmExtensions[] = {".lgb"};
constexpr std::string_view kCatboostExtensions[] = {".catboost", ".cbm"};
constexpr std::string_view kLibsvmExtensions[] = {".svm"};
constexpr std::string_view kLiblinearExtensions[] = {".liblinear"};
constexpr OptionSet kTaken = {Option::precision, Option::raw_scores, Option::zipmap};
constexpr Vocabulary kObjectives = {.name = "boosting", .translated = front::translated_objectives};

}  // namespace

constinit const Format kXgboostFormat = {.name = "xgboost",
                                         .title = "XGBoost",
                                         .extensions = kXgboostExtensions,
                                         .operators = &kObjectives,
                                         .recognise = recognise_xgboost,
                                         .load = load_xgboost,
                                         .import_options = kTaken,
                                         .is_one_file = true};

constinit const Format kLightgbmFormat = {.name = "lightgbm",
                                          .title = "LightGBM",
                                          .extensions = kLightgbmExtensions,
                                          .operators = &kObjectives,
                                          .recognise = recognise_lightgbm,
                                          .load = load_lightgbm,
                                          .import_options = kTaken,
                                          .is_one_file = true};

constinit const Format kCatboostFormat = {.name = "catboost",
                                          .title = "CatBoost",
                                          .extensions = kCatboostExtensions,
                                          .operators = &kObjectives,
                                          .recognise = recognise_catboost,
                                          .load = load_catboost,
                                          .import_options = kTaken,
                                          .is_one_file = true};

constinit const Format kLibsvmFormat = {.name = "libsvm",
                                        .title = "libsvm",
                                        .extensions = kLibsvmExtensions,
                                        .recognise = recognise_libsvm,
                                        .load = load_libsvm,
                                        .import_options = kTaken,
                                        .is_one_file = true};

constinit const Format kLiblinearFormat = {.name = "liblinear",
                                           .title = "liblinear",
                                           .extensions = kLiblinearExtensions,
                                           .recognise = recognise_liblinear,
                                           .load = load_liblinear,
                                           .import_options = kTaken,
                                           .is_one_file = true};

}  // namespace ingot::driver::rows
