// Runs all rules over a model.
#include "ingot/passes/check/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/passes/check/rules.h"

namespace ingot::passes {
namespace rules {

Imports::Imports(const OpsetImports& imports, std::int64_t ir_version) {
  for (const OpsetImport& import : imports)
    versions_.try_emplace(std::string(normal_domain(import.domain)), import.version);
  if (versions_.empty() && ir_version < 3) versions_.emplace("", 1);
}

std::int64_t Imports::version(std::string_view domain) const {
  const auto it = versions_.find(normal_domain(domain));
  return it == versions_.end() ? 0 : it->second;
}

Context::Context(const Model& checked, const CheckOptions& how)
    : model(checked),
      options(how),
      report(how.most_problems),
      places(checked),
      functions(checked),
      graphs(all_graphs(checked)),
      model_imports_(checked.opsets, checked.ir_version) {
  for (const auto& f : checked.functions) function_imports_.emplace(f.get(), Imports(f->opsets, checked.ir_version));
}

const Imports& Context::imports_of(const Function* function) const {
  return function ? function_imports_.at(function) : model_imports_;
}

const Type& Context::type_of(const Value& value) const {
  if (!inferred) return value.type;
  const auto it = inferred->types.find(&value);
  return it == inferred->types.end() ? value.type : *it->second;
}

std::string counted(std::size_t n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

}  // namespace rules

namespace {

constexpr std::size_t kMostInOneError = 10;

}  // namespace

std::string_view name_of(Severity severity) {
  constexpr std::string_view kWords[] = {"error", "warning", "note"};
  return kWords[static_cast<std::size_t>(severity)];
}

std::string Problem::str() const {
  std::string text = fmt::format("{}: {}: {} [{}]", name_of(severity), place, message, code_name(code));
  if (!hint.empty()) text += "\n  hint: " + hint;
  return text;
}

std::vector<Problem> check(const Model& model, const CheckOptions& options) {
  rules::Context context(model, options);
  rules::check_versions(context);
  rules::check_ir_features(context);
  rules::check_names(context);
  rules::check_functions(context);
  rules::check_operators(context);
  rules::check_attributes(context);
  rules::check_stated_types(context);
  rules::check_tensors(context);
  rules::check_annotations(context);
  rules::check_devices(context);
  rules::infer(context);
  rules::check_outputs(context);
  rules::check_type_constraints(context);
  rules::check_subgraphs(context);
  rules::check_training(context);
  rules::report_inference(context);
  return context.report.take();
}

std::string text_of(const std::vector<Problem>& errors, Code thrown) {
  const std::size_t shown = std::min(errors.size(), kMostInOneError);
  std::string text = rules::counted(errors.size(), "error");
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("\n  {}: {}", errors[i].place, errors[i].message);
    if (errors.size() > 1 || errors[i].code != thrown) text += fmt::format(" [{}]", code_name(errors[i].code));
  }
  if (shown < errors.size()) text += fmt::format("\n  and {} more", errors.size() - shown);
  return text;
}

void require_valid(const Model& model, const CheckOptions& options) {
  std::vector<Problem> problems = check(model, options);
  std::erase_if(problems, [](const Problem& p) { return p.severity != Severity::error; });
  if (problems.empty()) return;
  Error error(problems.front().code, "the model is not valid: " + text_of(problems, problems.front().code));
  error.hint(problems.front().hint.empty() ? "`ingot check` lists all of them" : problems.front().hint);
  throw error;
}

}  // namespace ingot::passes
