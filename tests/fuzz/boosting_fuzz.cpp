// Fuzzes the files of boosting libraries and of support vector machines, and their translation.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/bytes.h"
#include "ingot/base/error.h"
#include "ingot/formats/boosting/json.h"
#include "ingot/formats/boosting/model.h"
#include "ingot/formats/boosting/svm.h"
#include "ingot/frontends/boosting/import.h"

namespace {

using namespace ingot;
using namespace ingot::formats;

/// The file is read as what it begins like.
void read_any(const Bytes& file, Budget& budget) {
  namespace front = frontends::boosting;
  const std::string_view text = file.text();
  if (text.starts_with("svm_type"))
    (void)front::import_libsvm(boosting::read_libsvm(text, &budget));
  else if (text.starts_with("solver_type"))
    (void)front::import_liblinear(boosting::read_liblinear(text));
  else if (text.starts_with("tree"))
    (void)front::import_model(boosting::read_lightgbm(text, &budget));
  else if (boosting::looks_like_catboost_binary(file))
    (void)front::import_model(boosting::read_catboost_binary(file));
  else if (text.find("\"features_info\"") != std::string_view::npos)
    (void)front::import_model(boosting::read_catboost(boosting::parse_json(text, &budget)));
  else
    (void)front::import_model(boosting::read_xgboost(file, &budget));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Budget budget(Limits{.memory = 64u << 20});
  try {
    read_any(Bytes::copy(std::as_bytes(std::span(data, size))), budget);
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
