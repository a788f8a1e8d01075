// The words that say how a model is quantised, and the examples that it is quantised by.
#include "ingot/driver/quantize_words.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"

namespace ingot::driver {
namespace {

void require_one_of(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  if (std::ranges::find(known, word) != known.end()) return;
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  throw Error(Code::bad_usage, "'" + word + "' is not known for " + what).hint("known: " + list);
}

void require_known(const QuantizeWords& w) {
  require_one_of("method", w.method, {"static", "dynamic", "weights"});
  if (!w.form.empty()) require_one_of("form", w.form, {"qdq", "integer"});
  require_one_of("activations", w.activations, {"int8", "uint8"});
  if (!w.weights.empty()) require_one_of("weights", w.weights, {"int8", "uint8"});
  require_one_of("calibration", w.calibration, {"minmax", "entropy", "percentile"});
  if (w.bits != 8 && w.bits != 4) throw Error(Code::bad_usage, "weights have 8 or 4 bits");
  if (w.block < 0) throw Error(Code::bad_usage, "a block has a positive number of elements");
  if (!(w.percentile >= 50 && w.percentile <= 100))
    throw Error(Code::bad_usage, "the percentile lies between 50 and 100");
}

QuantizeOptions options_of(const QuantizeWords& w) {
  QuantizeOptions made;
  made.method = w.method == "static"    ? QuantizeMethod::ranges
                : w.method == "dynamic" ? QuantizeMethod::dynamic
                                        : QuantizeMethod::weights;
  const bool is_dynamic = made.method == QuantizeMethod::dynamic;
  const std::string form = w.form.empty() ? (is_dynamic ? "integer" : "qdq") : w.form;
  made.form = form == "integer" ? QuantizeForm::integer : QuantizeForm::qdq;
  made.activations = w.activations == "uint8" ? DType::u8 : DType::i8;
  // DynamicQuantizeLinear makes unsigned numbers; with signed weights, sums of pairs overflow on older processors.
  // Of 4 bits none is to be wasted on a range that is not used.
  const std::string weights = w.weights.empty() ? (is_dynamic || w.bits == 4 ? "uint8" : "int8") : w.weights;
  made.weights = weights == "uint8" ? DType::u8 : DType::i8;
  made.is_per_channel = !w.per_tensor;
  made.is_symmetric = w.symmetric;
  // Unsigned by signed numbers, as ONNX Runtime computes both kinds of int8: two products may not fit 16 bits.
  made.is_narrow = !is_dynamic && made.weights == DType::i8 && !w.full_range;
  made.bits = static_cast<int>(w.bits);
  made.block = w.block;
  made.only = w.only;
  made.exclude = w.exclude;
  return made;
}

}  // namespace

QuantizeRequest quantize_request(const QuantizeWords& words) {
  require_known(words);
  QuantizeRequest request;
  request.options = options_of(words);
  request.calibration.method = words.calibration == "minmax"    ? Calibration::extremes
                               : words.calibration == "entropy" ? Calibration::entropy
                                                                : Calibration::percentile;
  request.calibration.percentile = words.percentile;
  request.opset = words.opset;
  return request;
}

Samples samples_of(std::shared_ptr<const train::Dataset> data, std::shared_ptr<const Model> model, std::uint64_t batch,
                   std::uint64_t most) {
  const auto count = std::min(static_cast<std::uint64_t>(data->count), most);
  const bool is_fixed = train::fixed_batch(*model).has_value();
  const std::uint64_t size = std::max<std::uint64_t>(1, train::fixed_batch(*model).value_or(batch));
  return {static_cast<std::size_t>(count / size + (count % size != 0)), [=](std::size_t i) {
            std::vector<std::int64_t> rows;
            for (std::uint64_t r = i * size; r < (i + 1) * size; ++r)
              if (r < count || is_fixed) rows.push_back(static_cast<std::int64_t>(std::min(r, count - 1)));
            return train::batch_of(*data, *model, "", rows);
          }};
}

void set_samples(QuantizeRequest& request, const Model& model, train::Dataset data, double hold_back,
                 std::uint64_t batch, std::uint64_t most) {
  auto own = std::make_shared<Model>(model.clone());
  auto held_back = std::make_shared<train::Dataset>(train::split_off(data, hold_back, 1));
  request.samples = samples_of(std::make_shared<train::Dataset>(std::move(data)), own, batch, most);
  constexpr std::uint64_t kAll = ~std::uint64_t{0} >> 1;
  request.held_back = samples_of(held_back, own, batch, kAll);
}

void set_random_samples(QuantizeRequest& request, const Model& model, std::uint64_t count) {
  if (count) {
    request.samples = random_samples(model, count, 1);
    request.held_back = random_samples(model, std::max<std::uint64_t>(1, count / 4), 100001);
  } else if (request.options.method == QuantizeMethod::ranges) {
    throw Error(Code::bad_usage, "ranges are found on data")
        .hint("--data FILE, or --random 32 to try it out, or --method dynamic, which needs none");
  }
}

}  // namespace ingot::driver
