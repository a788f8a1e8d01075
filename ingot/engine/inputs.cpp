// Are these the inputs that the model asks for?
#include "ingot/engine/inputs.h"

#include <unordered_map>

#include "ingot/base/error.h"

namespace ingot::engine {
namespace {

/// What a value's type is, as far as the value tells.
Type type_of(const Datum& datum) {
  if (const Array* array = datum.array()) return array->type();
  if (const SparseArray* sparse = datum.sparse())
    return Type::sparse_tensor(sparse->values.dtype(), Shape(sparse->dims.begin(), sparse->dims.end()));
  if (const MapData* map = datum.map())
    return Type::map(map->string_keys.empty() ? DType::i64 : DType::string, Type::tensor(map->values.dtype()));
  if (const Sequence* sequence = datum.sequence()) {
    Type element;
    for (std::size_t i = 0; i < sequence->size(); ++i)
      element = i == 0 ? type_of((*sequence)[i]) : common(element, type_of((*sequence)[i]));
    return Type::sequence(element);
  }
  return {};
}

class Checker {
 public:
  explicit Checker(const Graph& graph) : graph_(graph), ordered_(graph.inputs().size()), given_(ordered_.size()) {
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) index_.emplace(graph.inputs()[i]->name(), i);
  }

  std::vector<Datum> run(const std::vector<NamedDatum>& given) {
    for (const NamedDatum& input : given) place(input);
    for (std::size_t i = 0; i < ordered_.size(); ++i) check(i);
    if (problems_.empty()) return std::move(ordered_);
    std::string text = problems_.size() == 1 ? problems_[0] : "the inputs do not fit the model:";
    if (problems_.size() > 1)
      for (const std::string& problem : problems_) text += "\n  " + problem;
    std::string wanted;
    for (const Value* v : graph_.inputs()) wanted += (wanted.empty() ? "" : ", ") + v->name() + ": " + v->type.str();
    throw Error(Code::bad_input, text).hint("the model's inputs are " + wanted);
  }

 private:
  void place(const NamedDatum& input) {
    const auto it = index_.find(input.name);
    if (it == index_.end()) {
      problems_.push_back("the model has no input '" + input.name + "'");
    } else if (given_[it->second]) {
      problems_.push_back("input '" + input.name + "' is given twice");
    } else {
      given_[it->second] = true;
      ordered_[it->second] = input.value;
    }
  }

  void check(std::size_t i) {
    const Value& input = *graph_.inputs()[i];
    const bool is_optional = input.type.is_optional();
    if (!ordered_[i]) {
      if (!input.initializer && !input.sparse_initializer && !is_optional)
        problems_.push_back("input '" + input.name() + "' is missing");
      return;
    }
    const Type& wanted = is_optional ? input.type.inner() : input.type;
    const Type got = type_of(ordered_[i]);
    std::string why;
    if (!may_match(got, wanted, &why)) {
      problems_.push_back("input '" + input.name() + "' is " + got.str() + ", the model wants " + wanted.str());
      return;
    }
    if (wanted.shape && got.shape) check_names(input.name(), *wanted.shape, *got.shape);
  }

  /// One name means one size, in all inputs.
  void check_names(const std::string& input, const Shape& wanted, const Shape& got) {
    for (std::size_t axis = 0; axis < wanted.size() && axis < got.size(); ++axis) {
      if (!wanted[axis].is_symbolic() || !got[axis].is_known()) continue;
      const std::string name = wanted[axis].str();
      const auto [it, is_new] = sizes_.try_emplace(name, got[axis].value(), input);
      if (!is_new && it->second.first != got[axis].value())
        problems_.push_back("dimension '" + name + "' is " + std::to_string(got[axis].value()) + " in input '" + input +
                            "' and " + std::to_string(it->second.first) + " in input '" + it->second.second + "'");
    }
  }

  const Graph& graph_;
  std::vector<Datum> ordered_;
  std::vector<bool> given_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::unordered_map<std::string, std::pair<std::int64_t, std::string>> sizes_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<Datum> ordered_inputs(const Graph& graph, const std::vector<NamedDatum>& given) {
  return Checker(graph).run(given);
}

}  // namespace ingot::engine
