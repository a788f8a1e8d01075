// Fuzzes the translation of programs over data frames.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ingot/base/error.h"
#include "ingot/frontends/pandas/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace pandas = ingot::frontends::pandas;
  using Type = pandas::ColumnType;
  pandas::ImportOptions options;
  options.schema = {{"a", Type::real},    {"b", Type::real}, {"n", Type::integer}, {"t", Type::text},
                    {"f", Type::boolean}, {"u", Type::text}, {"s", Type::integer}};
  // Every column has the same sample, so that what is fitted to one is reached.
  options.on_sample = [](const ingot::Model& model) {
    const bool is_text = model.graph->outputs()[0]->type.elem == ingot::DType::string;
    return is_text ? pandas::Sample{.texts = {"red", "", "blue"}} : pandas::Sample{.numbers = {1, 2.5, -1}};
  };
  try {
    (void)pandas::import_program(std::string_view(reinterpret_cast<const char*>(data), size), options);
  } catch (const ingot::Error&) {
    // refused, as it should be
  }
  return 0;
}
