#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {
class Budget;
}

namespace ingot::formats::boosting {

/// A model of libsvm, as its file has it.
struct LibsvmModel {
  std::string svm_type, kernel;  // "c_svc", "rbf"
  std::int64_t degree = 3;
  double gamma = 0, coef0 = 0;
  std::int64_t classes = 2;
  std::vector<double> rho, prob_a, prob_b;
  std::vector<std::int64_t> labels, support_counts;
  std::int64_t features = 0;
  std::vector<double> vectors;       // [total, features]
  std::vector<double> coefficients;  // [classes - 1, total]
};
LibsvmModel read_libsvm(std::string_view text, Budget* budget = nullptr);

/// A model of liblinear.
struct LiblinearModel {
  std::string solver;
  std::int64_t classes = 2, features = 0;
  std::vector<std::int64_t> labels;
  double bias = -1, rho = 0;
  std::int64_t columns = 1;
  std::vector<double> weights;  // [features (+ 1 with a bias), columns]
};
LiblinearModel read_liblinear(std::string_view text);

}  // namespace ingot::formats::boosting
