// Operators of others with shapes, types and attributes that nobody means: each is run or refused.
#include <gtest/gtest.h>

#include <random>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/passes/standardize.h"

namespace ingot {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(),
                       kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kOddNumbers[] = {0,     1,     1, -1, 2, 3, 4, 5, 7, 8, 16, 100, 1 << 20, std::int64_t{1} << 40,
                                        kMost, kLeast};

class OddUse {
 public:
  OddUse(const ops::Schema& schema, unsigned seed) : schema_(schema), engine_(seed) {
    model.ir_version = 10;
    model.opsets.set("", 21);
    if (!schema.domain.empty()) model.opsets.set(std::string(schema.domain), 1);
    Node* node = model.graph->add_node(std::string(schema.name), std::string(schema.domain));
    node->name = "n";
    for (std::size_t i = 0; i < schema.inputs.size(); ++i) add_input(*node, i);
    for (const ops::AttrSchema& attribute : schema.attributes)
      if (attribute.required || chance()) add_attribute(*node, attribute);
    const std::size_t count =
        chance() ? schema.outputs.size() : static_cast<std::size_t>(std::max(schema.min_outputs, 1));
    for (std::size_t i = 0; i < count; ++i) model.graph->add_output(node->add_output("y" + std::to_string(i)));
  }

  Model model;
  std::vector<engine::NamedDatum> inputs;

 private:
  std::size_t draw(std::size_t count) { return engine_() % count; }
  bool chance() { return draw(2) == 0; }
  std::int64_t odd() { return kOddNumbers[draw(std::size(kOddNumbers))]; }

  /// Inputs whose types must be equal are so.
  DType type_of(const ops::TypeConstraint& constraint) {
    auto& type = types_[&constraint];
    if (type != DType::undefined) return type;
    std::vector<DType> all;
    for (int t = 1; t < 32; ++t)
      if (constraint.tensors.has(static_cast<DType>(t))) all.push_back(static_cast<DType>(t));
    return type = all.empty() ? DType::f32 : all[draw(all.size())];
  }

  void add_input(Node& node, std::size_t i) {
    const ops::ParamSchema& param = schema_.inputs[i];
    if (param.option != ops::ParamOption::single && draw(3) == 0) return node.set_input(i, nullptr);
    const DType type = type_of(*param.type);
    Dims dims;
    for (std::size_t rank = draw(6); dims.size() < rank;) {
      constexpr std::int64_t kSizes[] = {0, 1, 1, 2, 2, 3, 4, 8, 16};
      dims.push_back(kSizes[draw(std::size(kSizes))]);
    }
    if (tensor_size(dims) > 4096) dims.resize(2);
    const std::string name = "i" + std::to_string(i);
    const Array array = values(type, dims);
    // Some are constants: bodies look at those.
    if (type != DType::string && draw(4) == 0)
      return node.set_input(i, model.graph->add_initializer(name, array.to_tensor()));
    Value* value = model.graph->add_input(name, Type::tensor(type, shape_of(dims)));
    value->is_declared = true;
    node.set_input(i, value);
    inputs.push_back({name, array});
  }
  static Shape shape_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

  Array values(DType type, const Dims& dims) {
    const auto count = static_cast<std::size_t>(tensor_size(dims));
    if (type == DType::string) {
      const std::string texts[] = {"", "a", "a b", "\xff", "[CLS]", std::string(300, 'x')};
      std::vector<std::string> all;
      while (all.size() < count) all.push_back(texts[draw(std::size(texts))]);
      return Array::of<std::string>(dims, all);
    }
    Array made(type, dims);
    if (type == DType::i64)
      for (auto& v : made.mutable_data<std::int64_t>()) v = chance() ? static_cast<std::int64_t>(draw(4)) : odd();
    if (type == DType::i32)
      for (auto& v : made.mutable_data<std::int32_t>())
        v = static_cast<std::int32_t>(chance() ? static_cast<std::int64_t>(draw(4)) : odd());
    if (type == DType::f32)
      for (auto& v : made.mutable_data<float>()) v = static_cast<float>(draw(1000)) / 100 - 5;
    return made;
  }

  void add_attribute(Node& node, const ops::AttrSchema& attribute) {
    const auto set = [&](auto value) {
      node.attributes.set({std::string(attribute.name), AttrValue(std::move(value))});
    };
    const auto list = [&](auto one) {
      std::vector<decltype(one())> all;
      for (std::size_t count = draw(6); all.size() < count;) all.push_back(one());
      return all;
    };
    const auto real = [&] { return (chance() ? 1.0f : -1e30f) * static_cast<float>(draw(3)); };
    const auto text = [&] {
      const char* texts[] = {
          "", "x", "relu", "gelu", "SAME_UPPER", "bidirectional", "{}", "[1", "a\n", "{\"a\": 99999999999}"};
      return std::string(texts[draw(std::size(texts))]);
    };
    switch (attribute.type) {
      case AttrType::int_:
        return set(odd());
      case AttrType::float_:
        return set(real());
      case AttrType::string:
        return set(text());
      case AttrType::ints:
        return set(list([&] { return odd(); }));
      case AttrType::floats:
        return set(list(real));
      case AttrType::strings:
        return set(list(text));
      case AttrType::graph:
        return set(std::make_unique<Graph>(model.graph.get()));
      default:
        return;
    }
  }

  const ops::Schema& schema_;
  std::mt19937 engine_;
  std::map<const ops::TypeConstraint*, DType> types_;
};

/// Whatever throws something else than Error ends the test.
template <class Work> bool runs(Work work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (std::getenv("INGOT_ODD_OPERATOR")) std::printf("%s\n", error.what());
    return false;
  }
}

TEST(OddUses, AreRunOrRefused) {
  const char* wanted = std::getenv("INGOT_ODD_USES");
  const unsigned each = wanted ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 60;
  const char* only = std::getenv("INGOT_ODD_OPERATOR");  // after a death: which one was it?
  std::size_t ran = 0, refused = 0;
  for (const ops::Schema& schema : ops::vendor_schemas())
    for (unsigned seed = 0; seed < each && (!only || schema.name == only); ++seed) {
      SCOPED_TRACE(std::string(schema.domain) + "." + std::string(schema.name) + ", seed " + std::to_string(seed));
      const OddUse use(schema, seed);
      Budget budget({.memory = std::uint64_t{1} << 28, .time = std::chrono::seconds(5)});
      bool is_refused = true;
      EXPECT_NO_THROW(is_refused = !runs([&] {
                        const engine::Session session(use.model,
                                                      {.budget = &budget, .threads = 1, .is_fast = seed % 2 == 0});
                        session.run(use.inputs);
                      }));
      EXPECT_NO_THROW(runs([&] {
        Model plain = use.model.clone();
        passes::standardize(plain);
      }));
      is_refused ? ++refused : ++ran;
    }
  std::printf("%zu uses ran, %zu were refused\n", ran, refused);
  EXPECT_TRUE(only || ran > refused / 20) << ran << " ran";
}

}  // namespace
}  // namespace ingot
