// Whether two runtimes agree, and which disagreements are known.
#include "tests/backends/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "tests/support/files.h"

namespace ingot::test {

std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype())
    return "type " + std::string(name_of(got.dtype())) + " instead of " + std::string(name_of(expected.dtype()));
  if (got.dims() != expected.dims()) return "another shape";
  if (got.dtype() == DType::string) return std::ranges::equal(got.strings(), expected.strings()) ? "" : "another text";
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  double scale = 0;
  for (const double x : b)
    if (std::isfinite(x)) scale = std::max(scale, std::abs(x));
  const bool is_float = got.dtype() == DType::f32 || got.dtype() == DType::f64 || got.dtype() == DType::f16;
  const double allowed = !is_float ? 0 : (got.dtype() == DType::f16 ? 1e-3 : 1e-4) * scale;
  std::size_t wrong = 0, first = 0;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) || std::abs(a[i] - b[i]) <= allowed) continue;
    if (!wrong++) first = i;
    worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  if (!wrong) return "";
  std::ostringstream text;
  text << wrong << " of " << a.size() << " elements, the first at " << first << ": " << a[first] << " instead of "
       << b[first] << ", worst " << worst << " at a scale of " << scale;
  return text.str();
}

std::string difference(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  if (got.size() != expected.size()) return "another number of outputs";
  for (std::size_t i = 0; i < got.size(); ++i)
    if (const std::string why = difference(got[i], expected[i]); !why.empty())
      return "output " + std::to_string(i) + ": " + why;
  return "";
}

bool is_sampled(const std::string& name) {
  if (const char* only = std::getenv("INGOT_CORPUS_FILTER")) return name.find(only) != std::string::npos;
  if (std::getenv("INGOT_WHOLE_CORPUS")) return true;
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash >> 8) % 4 == 0;
}

KnownDifferences::KnownDifferences(const std::string& file, bool sampled) : file_(file), sampled_(sampled) {
  std::istringstream lines(read_text(source_dir() / "tests/backends" / file));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos)
      ADD_FAILURE() << file << " has a line without a reason: " << line;
    else if (!reasons_.emplace(line.substr(0, colon), line.substr(colon + 2)).second)
      ADD_FAILURE() << file << " names " << line.substr(0, colon) << " twice";
  }
}

void KnownDifferences::check(const std::string& name, const std::string& difference) {
  seen_.insert(name);
  const auto known = reasons_.find(name);
  if (known == reasons_.end() && !difference.empty()) ADD_FAILURE() << name << ": " << difference;
  const bool may_agree = known != reasons_.end() && known->second.starts_with("undefined: ");
  if (known != reasons_.end() && difference.empty() && !may_agree)
    ADD_FAILURE() << file_ << " names " << name << ", which agrees";
}

void KnownDifferences::finish() const {
  if (sampled_ && !std::getenv("INGOT_WHOLE_CORPUS")) return;
  for (const auto& [name, reason] : reasons_)
    if (!seen_.contains(name)) ADD_FAILURE() << file_ << " names " << name << ", which was not compared";
}

}  // namespace ingot::test
