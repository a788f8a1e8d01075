// The IR version, the imported operator sets, and whether every domain in use is imported.
#include <fmt/format.h>

#include <unordered_map>

#include "ingot/ops/schema.h"
#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

constexpr std::int64_t kNewestIrVersion = 14;

void check_ir_version(Context& c) {
  const std::int64_t version = c.model.ir_version;
  if (version == 0) {
    c.report.error(Code::bad_ir_version, "model", "the model does not state its IR version",
                   "set ir_version; 8 suits most models");
  } else if (version < 0 || version > kNewestIrVersion) {
    c.report.error(Code::bad_ir_version, "model",
                   fmt::format("IR version {} is not supported: versions 1 to {} are", version, kNewestIrVersion),
                   "re-export the model for an older version of ONNX, or use a newer Ingot");
  }
}

void check_imports(Context& c, const OpsetImports& imports, const std::string& place) {
  std::unordered_map<std::string_view, std::int64_t> seen;
  for (const OpsetImport& import : imports) {
    const std::string_view domain = normal_domain(import.domain);
    const std::string name = quoted(domain_name(domain));
    const auto [earlier, is_first] = seen.emplace(domain, import.version);
    if (!is_first) {
      std::string message = fmt::format("operator set {} is imported twice", name);
      if (earlier->second == import.version)
        c.report.warning(Code::bad_opset_import, place, std::move(message), "remove one of the imports");
      else
        c.report.error(Code::bad_opset_import, place,
                       fmt::format("{}, in versions {} and {}", message, earlier->second, import.version),
                       "keep the version that the model was made for");
      continue;
    }
    const int newest = ops::newest_opset(domain);
    if (newest == 0) {
      if (import.version < 1)
        c.report.warning(Code::bad_opset_import, place,
                         fmt::format("version {} of operator set {} is not positive", import.version, name),
                         "custom operator sets usually start with version 1");
    } else if (import.version < 1 || import.version > newest) {
      c.report.error(Code::bad_opset_import, place,
                     fmt::format("version {} of operator set {} does not exist", import.version, name),
                     fmt::format("versions 1 to {} do; a newer Ingot may know more", newest));
    }
  }
}

void check_domains_in_use(Context& c) {
  struct Use {
    const Node* first;
    std::size_t count;
  };
  std::unordered_map<const Function*, std::unordered_map<std::string_view, Use>> missing;
  std::vector<std::pair<const Function*, std::string_view>> order;
  for (const GraphPlace& place : c.graphs) {
    const Imports& imports = c.imports(place);
    std::string_view last = "\n";  // most nodes have the domain of the node before
    for (const Node& node : place.graph->nodes()) {
      if (node.domain == last) continue;
      if (imports.version(node.domain) != 0) {
        last = node.domain;
        continue;
      }
      const auto [it, is_first] = missing[place.function].try_emplace(normal_domain(node.domain), Use{&node, 0});
      if (is_first) order.emplace_back(place.function, it->first);
      ++it->second.count;
    }
  }
  for (const auto& [function, domain] : order) {
    const Use& use = missing[function].at(domain);
    std::string message = fmt::format("domain {} of the operator is not imported", quoted(domain_name(domain)));
    if (use.count > 1) message += fmt::format(", which {} need", counted(use.count, "node"));
    std::string hint = fmt::format("add an opset import of {} to the {}", quoted(domain_name(domain)),
                                   function ? "function" : "model");
    // Which version of the standard's operators is meant changes what they do; runtimes know one of their own.
    if (ops::newest_opset(domain) != 0)
      c.report.error(Code::bad_opset_import, c.places.of(*use.first), std::move(message), std::move(hint));
    else
      c.report.warning(Code::bad_opset_import, c.places.of(*use.first), std::move(message), std::move(hint));
  }
}

}  // namespace

void check_versions(Context& c) {
  check_ir_version(c);
  const Model& model = c.model;
  if (model.opsets.empty() && model.ir_version >= 3)
    c.report.error(Code::bad_opset_import, "model", "no operator set is imported",
                   "add an opset import of 'ai.onnx' with the version that the model was made for");
  if (!model.opsets.empty() && model.ir_version > 0 && model.ir_version < 3)
    c.report.error(Code::bad_opset_import, "model",
                   fmt::format("IR version {} has no operator set imports", model.ir_version),
                   "state IR version 3 or newer");
  check_imports(c, model.opsets, "model");
  for (const auto& f : model.functions) check_imports(c, f->opsets, function_name(*f));
  if (!model.opsets.empty() || model.ir_version < 3) check_domains_in_use(c);
}

}  // namespace ingot::passes::rules
