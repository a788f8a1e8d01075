#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/base/json.h"
#include "ingot/driver/format.h"
#include "ingot/driver/options.h"
#include "ingot/ir/opaque_model.h"
#include "ingot/pages/page.h"

namespace ingot::pages {

/// What a page of one model tells beside what the model itself does.
struct ModelPageOptions {
  std::string title;
  std::string format{};                            // for people: "TFLite"
  std::vector<std::string> notes{};                // of the import, a line each
  driver::InputShapes input_shapes{};              // for what nodes cost
  std::optional<driver::FileContents> contents{};  // of a file in its framework's words
  Json verification{};                             // as `ingot verify --json` says it; null: none
  std::string curves_svg{};                        // of a training run; empty: none
  bool has_statistics = true;                      // read every weight
};

/// The graph, what nodes cost, what weights are like, the facts. A broken model is shown as far as it goes.
Page model_page(const Model& model, const ModelPageOptions& options);

}  // namespace ingot::pages
