// Model files of libsvm and liblinear: text.
#include "ingot/formats/boosting/svm.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"

namespace ingot::formats::boosting {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

[[noreturn]] void refuse_line(const std::string& why) { throw Error(Code::bad_source_graph, "the model " + why); }

std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(begin);
  const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

template <class T> T parsed(std::string_view word) {
  T value{};
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    refuse_line("holds '" + std::string(word.substr(0, 40)) + "' in place of a number");
  return value;
}

template <class T> std::vector<T> parsed_all(std::string_view line) {
  std::vector<T> values;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
    values.push_back(parsed<T>(word));
  return values;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

struct Entry {
  std::int64_t row, feature;
  double value;
};

}  // namespace

LibsvmModel read_libsvm(std::string_view text, Budget* budget) {
  LibsvmModel model;
  std::int64_t total = 0;
  for (bool is_head = true; is_head;) {
    if (text.empty()) refuse_line("has no support vectors");
    std::string_view line = next_line(text);
    const std::string_view key = next_word(line);
    if (key == "SV") {
      is_head = false;
    } else if (key == "svm_type") {
      model.svm_type = next_word(line);
    } else if (key == "kernel_type") {
      model.kernel = next_word(line);
    } else if (key == "degree") {
      model.degree = parsed<std::int64_t>(next_word(line));
    } else if (key == "gamma") {
      model.gamma = parsed<double>(next_word(line));
    } else if (key == "coef0") {
      model.coef0 = parsed<double>(next_word(line));
    } else if (key == "nr_class") {
      model.classes = parsed<std::int64_t>(next_word(line));
    } else if (key == "total_sv") {
      total = parsed<std::int64_t>(next_word(line));
    } else if (key == "rho") {
      model.rho = parsed_all<double>(line);
    } else if (key == "label") {
      model.labels = parsed_all<std::int64_t>(line);
    } else if (key == "probA") {
      model.prob_a = parsed_all<double>(line);
    } else if (key == "probB") {
      model.prob_b = parsed_all<double>(line);
    } else if (key == "nr_sv") {
      model.support_counts = parsed_all<std::int64_t>(line);
    } else if (key != "prob_density_marks" && !key.empty()) {
      refuse_line("has a line '" + std::string(key.substr(0, 40)) + "'");
    }
  }
  if (model.classes < 1 || model.classes > 100'000 || total < 0 || std::cmp_greater(total, text.size()))
    refuse_line("has a number of classes or vectors that is none");
  const std::int64_t columns = std::max<std::int64_t>(1, model.classes - 1);
  if (total * columns > kMostElements) refuse_line("is too large");
  model.coefficients.resize(static_cast<std::size_t>(columns * total));
  std::vector<Entry> entries;
  for (std::int64_t row = 0; row < total; ++row) {
    if (budget && row % 1024 == 0) budget->poll();
    if (text.empty()) refuse_line("has fewer vectors than it says");
    std::string_view line = next_line(text);
    for (std::int64_t c = 0; c < columns; ++c)
      model.coefficients[static_cast<std::size_t>(c * total + row)] = parsed<double>(next_word(line));
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const std::size_t colon = word.find(':');
      if (colon == std::string_view::npos) refuse_line("has a feature without its number");
      const auto feature = parsed<std::int64_t>(word.substr(0, colon));
      if (feature < 1 || feature > kMostElements) refuse_line("counts its features from 1 on");
      entries.push_back({row, feature - 1, parsed<double>(word.substr(colon + 1))});
      model.features = std::max(model.features, feature);
    }
  }
  if (model.features > 0 && total > kMostElements / model.features) refuse_line("is too large to be written out");
  model.vectors.resize(static_cast<std::size_t>(total * model.features));
  for (const Entry& e : entries) model.vectors[static_cast<std::size_t>(e.row * model.features + e.feature)] = e.value;
  return model;
}

LiblinearModel read_liblinear(std::string_view text) {
  LiblinearModel model;
  for (bool is_head = true; is_head;) {
    if (text.empty()) refuse_line("has no weights");
    std::string_view line = next_line(text);
    const std::string_view key = next_word(line);
    if (key == "w") {
      is_head = false;
    } else if (key == "solver_type") {
      model.solver = next_word(line);
    } else if (key == "nr_class") {
      model.classes = parsed<std::int64_t>(next_word(line));
    } else if (key == "label") {
      model.labels = parsed_all<std::int64_t>(line);
    } else if (key == "nr_feature") {
      model.features = parsed<std::int64_t>(next_word(line));
    } else if (key == "bias") {
      model.bias = parsed<double>(next_word(line));
    } else if (key == "rho") {
      model.rho = parsed<double>(next_word(line));
    } else if (!key.empty()) {
      refuse_line("has a line '" + std::string(key.substr(0, 40)) + "'");
    }
  }
  const bool is_regression = model.solver.find("SVR") != std::string::npos || model.solver == "ONECLASS_SVM";
  model.columns = is_regression || (model.classes == 2 && model.solver != "MCSVM_CS") ? 1 : model.classes;
  const std::int64_t rows = model.features + (model.bias >= 0 ? 1 : 0);
  if (model.features < 0 || model.columns < 1 || rows > kMostElements / model.columns ||
      std::cmp_greater(rows, text.size()))
    refuse_line("has a number of features that is none");
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto values = parsed_all<double>(next_line(text));
    if (std::cmp_not_equal(values.size(), model.columns)) refuse_line("has a line of weights of the wrong length");
    model.weights.insert(model.weights.end(), values.begin(), values.end());
  }
  return model;
}

}  // namespace ingot::formats::boosting
