// A description of a model for programs, written only.
#include "ingot/onnx/json.h"

#include "ingot/base/atomic_file.h"
#include "ingot/driver/formats/onnx.h"
#include "ingot/driver/formats/rows.h"

namespace ingot::driver::rows {
namespace {

std::vector<std::string> save_json(const Model& model, const std::string& path, const SaveOptions&) {
  AtomicFile file(path);
  file.write(onnx::to_json(model));
  file.commit();
  return {};
}

constexpr std::string_view kExtensions[] = {".json"};

}  // namespace

constinit const Format kJsonFormat = {
    .name = "json",
    .title = "JSON description",
    .extensions = kExtensions,
    .is_onnx = true,
    .operators = &kOnnxOperators,
    .save = save_json,
    .export_options = kOnnxExportOptions,
    .why_not_run = "a description does not run",
};

}  // namespace ingot::driver::rows
