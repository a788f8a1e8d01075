// What a user's own functions say of operators that Ingot does not know.
#include "ingot/driver/own_functions.h"

#include "ingot/base/error.h"
#include "ingot/passes/infer.h"

namespace ingot::driver {

OwnFunctions::OwnFunctions(const LoadOptions& options) {
  if (options.import.functions.empty()) return;
  LoadOptions plain = options;
  plain.from = nullptr;
  plain.import = {};
  source_ = load(options.import.functions, plain).model;
  if (source_.functions.empty())
    throw Error(Code::bad_usage, "the file has no functions")
        .in_file(options.import.functions)
        .hint("--functions takes an ONNX file with a function for each custom operator");
}

void OwnFunctions::allow(std::vector<std::string>& custom) const {
  for (const auto& function : source_.functions) custom.push_back(function->name + ":" + function->domain);
}

void OwnFunctions::add_to(Model& model) {
  if (source_.functions.empty()) return;
  for (auto& function : source_.functions) {
    if (model.find_function(function->domain, function->name, function->overload))
      throw Error(Code::duplicate_name,
                  "the model has a function '" + function->domain + "." + function->name + "' already")
          .hint("take it out of the file that --functions names");
    if (!model.opsets.version(function->domain)) model.opsets.set(function->domain, 1);
    model.functions.push_back(std::move(function));
  }
  source_.functions.clear();
  // Only now can be known what the custom nodes give.
  passes::InferOptions tolerant;
  tolerant.tolerate_errors = true;
  passes::infer(model, tolerant);
}

}  // namespace ingot::driver
