// ai.onnx.contrib: StringMapping, StringToVector, VectorToString: tables of texts in an attribute.
#include <map>
#include <unordered_map>

#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using Vector = std::vector<std::int64_t>;

/// A line: a text, a tab, what belongs to it.
std::pair<std::string_view, std::string_view> entry_of(const Node& node, std::string_view line) {
  const auto parts = parts_of(line, "\t");
  if (parts.size() != 2) refuse_text(node, "a line of the map is not two texts with a tab between them");
  return {parts[0], parts[1]};
}

Vector numbers_of(const Node& node, std::string_view text) {
  Vector numbers;
  for (const std::string_view part : parts_of(text, " "))
    if (!parse_int(part, numbers.emplace_back())) refuse_text(node, "a number of the map is none");
  return numbers;
}

class Mapping : public TextMachine {
 public:
  explicit Mapping(const Node& node) {
    for (const std::string_view line : parts_of(need_text(node, "map"), "\n")) {
      const auto [key, value] = entry_of(node, line);
      map_[std::string(key)] = value;
    }
  }
  void run(KernelContext& c) const override {
    const Array& x = c.in(0);
    const auto out = c.make(0, DType::string, x.dims()).mutable_data<std::string>();
    std::size_t i = 0;
    for (const std::string& text : x.data<std::string>()) {
      const auto it = map_.find(text);
      out[i++] = it == map_.end() ? text : it->second;
    }
  }

 private:
  std::unordered_map<std::string, std::string> map_;
};

class ToVector : public TextMachine {
 public:
  explicit ToVector(const Node& node) : unknown_(numbers_of(node, need_text(node, "unk"))) {
    for (const std::string_view line : parts_of(need_text(node, "map"), "\n")) {
      const auto [key, value] = entry_of(node, line);
      Vector numbers = numbers_of(node, value);
      if (numbers.size() != unknown_.size()) refuse_text(node, "'unk' and the vectors of 'map' differ in length");
      map_[std::string(key)] = std::move(numbers);
    }
  }
  void run(KernelContext& c) const override {
    Dims dims = c.in(0).dims();
    dims.push_back(std::ssize(unknown_));
    auto out = c.make(0, DType::i64, dims).mutable_data<std::int64_t>().begin();
    for (const std::string& text : c.in(0).data<std::string>()) {
      const auto it = map_.find(text);
      out = std::ranges::copy(it == map_.end() ? unknown_ : it->second, out).out;
    }
  }

 private:
  Vector unknown_;
  std::unordered_map<std::string, Vector> map_;
};

class FromVector : public TextMachine {
 public:
  explicit FromVector(const Node& node) : unknown_(node.attributes.string_or("unk", "")) {
    for (const std::string_view line : parts_of(need_text(node, "map"), "\n")) {
      const auto [text, value] = entry_of(node, line);
      Vector numbers = numbers_of(node, value);
      if (map_.empty()) length_ = numbers.size();
      if (numbers.size() != length_ || length_ == 0) refuse_text(node, "the vectors of 'map' differ in length");
      map_[std::move(numbers)] = text;
    }
  }
  void run(KernelContext& c) const override {
    const Array& x = c.in(0);
    Dims dims = x.dims();
    if (length_ != 1 || dims.size() > 1) {
      if (dims.empty() || dims.back() != static_cast<std::int64_t>(length_))
        c.fail("the last dimension must be " + std::to_string(length_));
      dims.pop_back();
    }
    const auto in = x.data<std::int64_t>();
    const auto out = c.make(0, DType::string, dims).mutable_data<std::string>();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto part = in.subspan(i * length_, length_);
      const auto it = map_.find(Vector(part.begin(), part.end()));
      out[i] = it == map_.end() ? unknown_ : it->second;
    }
  }

 private:
  std::string unknown_;
  std::size_t length_ = 1;
  std::map<Vector, std::string> map_;
};

void infer_to_vector(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  Shape y = *x;
  y.emplace_back(std::ssize(parts_of(c.attr("unk", ""), " ")));
  c.out_shape(0, std::move(y));
}

void infer_from_vector(InferContext& c) {
  const Shape* x = c.shape(0);
  const std::string map = c.attr("map", "");
  const auto lines = parts_of(map, "\n");
  if (!x || lines.empty()) return;
  const auto columns = parts_of(lines[0], "\t");
  if (columns.size() != 2) return;
  Shape y = *x;
  if (parts_of(columns[1], " ").size() != 1 || y.size() > 1) {
    c.require(!y.empty(), "the input must have a dimension for the vectors");
    y.pop_back();
  }
  c.out_shape(0, std::move(y));
}

}  // namespace

std::unique_ptr<TextMachine> make_mapping(const Node& node) { return std::make_unique<Mapping>(node); }
std::unique_ptr<TextMachine> make_to_vector(const Node& node) { return std::make_unique<ToVector>(node); }
std::unique_ptr<TextMachine> make_from_vector(const Node& node) { return std::make_unique<FromVector>(node); }

constinit const OpDef defs::contrib::StringMapping = {
    .name = "StringMapping", .domain = kContrib, .infer = infer_same_shape, .kernel = run_machine<Mapping>};
constinit const OpDef defs::contrib::StringToVector = {
    .name = "StringToVector", .domain = kContrib, .infer = infer_to_vector, .kernel = run_machine<ToVector>};
constinit const OpDef defs::contrib::VectorToString = {
    .name = "VectorToString", .domain = kContrib, .infer = infer_from_vector, .kernel = run_machine<FromVector>};

}  // namespace ingot::ops
