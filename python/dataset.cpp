// Examples for training and for finding ranges.
#include "dataset.h"

#include "unlocked.h"

namespace ingot::python {

Dataset to_dataset(const py::object& data, const std::string& target, const Model& model) {
  DatasetOptions options;
  options.target = target;
  if (!py::isinstance<py::dict>(data)) {
    const std::string path = to_path(data);
    return unlocked([&](Budget& budget) {
      LoadOptions load_options;
      load_options.budget = &budget;
      return load_dataset(path, options, model, load_options);
    });
  }
  std::vector<std::pair<std::string, Array>> columns;
  for (const auto& [name, values] : data.cast<py::dict>()) {
    const Datum datum = to_datum(values, Type::tensor(DType::undefined), to_name(name));
    columns.emplace_back(to_name(name), *datum.array());
  }
  return dataset_of(std::move(columns), target);
}

}  // namespace ingot::python
