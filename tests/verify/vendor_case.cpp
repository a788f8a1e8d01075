// A drawn use of an operator as a model of one node.
#include "tests/verify/vendor_case.h"

#include <algorithm>

#include "ingot/base/float_types.h"

namespace ingot::test {

VendorCase::VendorCase(std::string op, std::string domain, unsigned seed, DType floats)
    : op_(std::move(op)), domain_(std::move(domain)), float_type_(floats), engine_(seed) {}

std::int64_t VendorCase::number(std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
}

Tensor VendorCase::floats(Dims dims, double least, double most) {
  Tensor made;
  dispatch(float_type_, Types<float, double, Float16>(), [&]<class T>() {
    std::vector<T> values(static_cast<std::size_t>(tensor_size(dims)));
    for (T& v : values)
      v = static_cast<T>(static_cast<float>(least + (most - least) * static_cast<double>(engine_() % 65536) / 65535));
    made = Tensor::of<T>(std::move(dims), values);
  });
  return made;
}

Tensor VendorCase::integers(DType dtype, Dims dims, std::int64_t least, std::int64_t most) {
  Tensor made;
  dispatch(dtype, JoinTypes<Integers, Types<bool>>(), [&]<class T>() {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(tensor_size(dims)) * sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
      const T value = static_cast<T>(number(least, most));
      std::memcpy(&bytes[i], &value, sizeof(T));
    }
    made = Tensor(dtype, dims, Bytes::copy(std::as_bytes(std::span(bytes))));
  });
  return made;
}

void VendorCase::input(Tensor value) {
  const std::string name = "i" + std::to_string(slots_.size());
  inputs_.push_back({name, Array::from(value)});
  slots_.push_back({name, std::move(value), false});
}

void VendorCase::weight(Tensor value) {
  slots_.push_back({"i" + std::to_string(slots_.size()), std::move(value), true});
}

void VendorCase::absent() { slots_.push_back({}); }

void VendorCase::attribute(Attribute attribute) {
  attribute_text_ += " " + attribute.name;
  if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) attribute_text_ += "=" + std::to_string(*i);
  if (const auto* f = std::get_if<float>(&attribute.value)) attribute_text_ += "=" + std::to_string(*f);
  if (const auto* s = std::get_if<std::string>(&attribute.value)) attribute_text_ += "=" + *s;
  auto shared = std::make_shared<Attribute>(std::move(attribute));
  attributes_.push_back([shared](Node& node) {
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::is_copy_constructible_v<T> && !std::is_same_v<T, std::vector<GraphPtr>>)
            node.attributes.set({shared->name, AttrValue(value)});
        },
        shared->value);
  });
}

void VendorCase::outputs(std::size_t count, unsigned produced) {
  outputs_.clear();
  for (std::size_t i = 0; i < count; ++i) outputs_.push_back((produced >> i & 1) != 0);
}

void VendorCase::leave_open(std::size_t output) { open_.push_back("y" + std::to_string(output)); }
bool VendorCase::is_open(std::string_view output) const { return std::ranges::find(open_, output) != open_.end(); }

void VendorCase::in_place(std::size_t output, std::size_t input) {
  in_place_.emplace_back("y" + std::to_string(output), "i" + std::to_string(input));
}

Model VendorCase::model() const {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", opset);
  if (!domain_.empty()) model.opsets.set(domain_, 1);
  Graph& graph = *model.graph;
  graph.name = "g";
  Node* node = graph.add_node(op_, domain_);
  node->name = "n";
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.name.empty()) {
      node->set_input(i, nullptr);
      continue;
    }
    Value* value =
        slot.is_weight ? graph.add_initializer(slot.name, slot.value) : graph.add_input(slot.name, slot.value.type());
    if (!slot.is_weight) value->is_declared = true;
    node->set_input(i, value);
  }
  for (const auto& set : attributes_) set(*node);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Value* value = node->add_output(outputs_[i] ? "y" + std::to_string(i) : "");
    if (!value) continue;
    value->is_declared = true;
    graph.add_output(value);
  }
  return model;
}

std::string VendorCase::text() const {
  std::string text = op_ + "(";
  for (const Slot& slot : slots_)
    text += (slot.name.empty() ? "-" : slot.value.type().str()) + (slot.is_weight ? "w " : " ");
  return text + ")" + attribute_text_ + " outputs " + std::to_string(outputs_.size());
}

}  // namespace ingot::test
