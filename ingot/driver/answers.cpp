// What a model says of rows of data.
#include "ingot/driver/answers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"

namespace ingot::driver {
namespace {

Array first_rows(const Array& all, std::int64_t rows) {
  if (all.dims()[0] == rows) return all;
  Dims dims = all.dims();
  dims[0] = rows;
  Array some(all.dtype(), dims);
  if (all.dtype() == DType::string)
    std::ranges::copy_n(all.data<std::string>().begin(), some.size(), some.mutable_data<std::string>().begin());
  else
    std::memcpy(some.bytes(), all.bytes(), some.byte_size());
  return some;
}

/// A map per row, as classifiers of ONNX-ML give them: a table with a column per key.
Answer from_maps(const std::string& name, const Sequence& maps, std::int64_t rows) {
  Answer answer{name, {}};
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    const MapData* map = maps[static_cast<std::size_t>(i)].map();
    std::vector<std::string> keys;
    if (map) keys = map->string_keys;
    for (const std::int64_t key : map ? map->int_keys : std::vector<std::int64_t>())
      keys.push_back(std::to_string(key));
    if (i == 0) answer.labels = keys;
    if (!map || keys != answer.labels || map->values.dtype() == DType::string)
      throw Error(Code::unsupported_feature, "output '" + name + "' does not give every row the same columns");
    for (const double v : map->values.to_doubles()) values.push_back(v);
  }
  answer.values = Array(DType::f32, {rows, std::ssize(answer.labels)});
  std::ranges::transform(values, answer.values.mutable_data<float>().begin(),
                         [](double v) { return static_cast<float>(v); });
  return answer;
}

}  // namespace

Answers::Answers(const Model& model, const train::Preparation& preparation, bool is_raw) {
  if (is_raw || preparation.classes.empty()) return;
  classes_ = preparation.classes;
  for (const Value* v : model.graph->outputs()) {
    names_class_ |= v->name() == "class";
    const auto& shape = v->type.shape;
    const bool has_classes = v->type.is_tensor() && is_float(v->type.elem) && shape && shape->size() == 2 &&
                             (!(*shape)[1].is_known() || (*shape)[1].value() == std::ssize(classes_));
    if (!has_classes || !scores_.empty()) continue;
    scores_ = v->name();
    is_softmax_ = v->producer() && v->producer()->is("Softmax");
    is_logits_ = !is_softmax_ && preparation.scores == "logits";
  }
}

Array Answers::probabilities(const Array& scores) const {
  std::vector<double> values = scores.to_doubles();
  const std::size_t classes = classes_.size();
  for (std::size_t row = 0; is_logits_ && row + classes <= values.size(); row += classes) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row);
    const auto last = first + static_cast<std::ptrdiff_t>(classes);
    const double most = *std::max_element(first, last);
    double sum = 0;
    std::for_each(first, last, [&](double& v) { sum += v = std::exp(v - most); });
    std::for_each(first, last, [&](double& v) { v /= sum; });
  }
  return Array::of<float>(scores.dims(), std::vector<float>(values.begin(), values.end()));
}

void Answers::add_class(std::vector<Answer>& answers, const Array& scores) const {
  if (scores.rank() != 2 || scores.dims()[1] != std::ssize(classes_)) return;
  const std::vector<double> values = scores.to_doubles();
  Array best(DType::string, {scores.dims()[0]});
  auto names = best.mutable_data<std::string>();
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * classes_.size());
    const auto top = std::max_element(first, first + std::ssize(classes_)) - first;
    names[row] = classes_[static_cast<std::size_t>(top)];
  }
  if (!names_class_) answers.push_back({"class", best, {}, true});
  if (has_probabilities()) answers.push_back({"probability", probabilities(scores), classes_, true});
}

std::vector<Answer> Answers::of(const std::vector<engine::NamedDatum>& outputs, std::int64_t rows,
                                std::int64_t batch) const {
  std::vector<Answer> answers;
  for (const auto& [name, value] : outputs) {
    const Array* array = value.array();
    const Sequence* sequence = value.sequence();
    const bool is_per_row =
        array ? array->rank() > 0 && array->dims()[0] == batch : sequence && std::ssize(*sequence) == batch;
    if (!is_per_row)
      throw Error(Code::unsupported_feature, "output '" + name + "' is " + (array ? array->type().str() : "no tensor") +
                                                 " for a batch of " + std::to_string(batch) +
                                                 ": it does not say one thing of each row")
          .hint("'ingot run --in' runs such a model on one batch");
    if (sequence) {
      answers.push_back(from_maps(name, *sequence, rows));
      continue;
    }
    Answer answer{name, first_rows(*array, rows)};
    if (name == scores_) {
      add_class(answers, answer.values);
      if (answer.values.rank() == 2 && answer.values.dims()[1] == std::ssize(classes_)) answer.labels = classes_;
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace ingot::driver
