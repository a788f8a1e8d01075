// Generated code and the engine agree on which sizes of inputs fit each other: what the engine refuses, the code
// refuses before it reads beyond its memory, and all else gives the same numbers.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "ingot/backends/cpp/emit.h"
#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/lower/lower.h"
#include "ingot/onnx/text.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

using Call = int (*)(const void* const*, const std::int64_t* const*, const void**, std::int64_t* const*);

// Inputs and nodes; results are those that nothing reads. Sizes A to F are drawn up to 4. Numbers of int64 inputs: i,
// indices, -1 and 0, which lead somewhere where there is a place; t, n and p 0 and 1; others from -2 to 4. Operands
// that a decomposition stretches are not among them: there code takes one number where the engine wants one for each
// channel.
struct Case {
  const char *inputs, *results, *nodes;
  int least = 0;  // of sizes: some operators mean little of nothing
};
constexpr Case kCases[] = {
    {"float[A] a, float[B] b", "float[X] y", "y = Add(a, b)"},
    {"float[A,B] a, float[C,1] b, float[D] c", "float[X,Y] y", "y = Sum(a, b, c)"},
    {"float[A,3] a, float[B,3] b", "bool[X,3] y", "y = Less(a, b)"},
    {"bool[A] c, float[B,C] a, float[D] b", "float[X,Y] y", "y = Where(c, a, b)"},
    {"float[A,B] a, float[C,D] b", "float[X,Y] y", "y = MatMul(a, b)"},
    {"float[A,B,C] a, float[D,E,F] b", "float[X,Y,Z] y", "y = MatMul(a, b)"},
    {"float[A] a, float[B,3] b", "float[3] y", "y = MatMul(a, b)"},
    {"float[A,B] a, float[C,D] b, float[E] c", "float[X,Y] y", "y = Gemm<transA = 1>(a, b, c)"},
    {"uint8[A,B] a, uint8[C,D] b", "int32[X,Y] y", "y = MatMulInteger(a, b)"},
    {"float[A,3] a", "float[2,X] y", "s = Constant<value = int64[2] {2, -1}>() y = Reshape(a, s)"},
    {"float[A,B] a", "float[X,4] y", "s = Constant<value = int64[2] {-1, 4}>() y = Reshape(a, s)"},
    {"float[A,B] a, int64[2] s", "float[X,Y] y", "y = Reshape(a, s)", 1},
    {"float[A,B,C] a, int64[4] s", "float[X,Y,Z,V] y", "y = Reshape<allowzero = 1>(a, s)", 1},
    {"float[A,B] a", "float[A] y", "s = Constant<value = int64[1] {1}>() y = Squeeze(a, s)"},
    {"float[A,B] a, int64[2] s", "float[X,Y] y", "y = Expand(a, s)"},
    {"float[A,B] a, float[C,D] b", "float[X,Y] y", "y = Concat<axis = 1>(a, b)"},
    {"float[A,4] a, int64[2] s", "float[X,4] y, float[Z,4] z", "y, z = Split<axis = 0>(a, s)"},
    {"float[A,3] a, int64[B] i", "float[B,3] y", "y = Gather(a, i)"},
    {"float[A,B] a, int64[C,D] i", "float[C,D] y", "y = GatherElements<axis = 1>(a, i)"},
    {"float[A,B,2] a, int64[C,1] i", "float[C,2] y", "y = GatherND<batch_dims = 1>(a, i)"},
    {"float[A,B] a, int64[C,D] i, float[E,F] u", "float[A,B] y", "y = ScatterElements<axis = 0>(a, i, u)"},
    {"float[A,B] a, int64[C,1] i, float[D,E] u", "float[A,B] y", "y = ScatterND(a, i, u)"},
    {"float[A,B] a, int64[1] k", "float[A,Y] y, int64[A,Y] p", "y, p = TopK(a, k)"},
    {"float[A,B] a", "float[A,2] y, int64[A,2] p", "k = Constant<value = int64[1] {2}>() y, p = TopK(a, k)"},
    {"float[A,B] a", "int64[A] y", "y = ArgMax<axis = 1, keepdims = 0>(a)"},
    {"float[A,B,4] a", "float[A,2,X] y",
     "w = Constant<value = float[2,3,2] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>() y = Conv(a, w)"},
    {"float[A,B,4] a", "float[A,2,X] y",
     "w = Constant<value = float[3,2,1] {1, 2, 3, 4, 5, 6}>() y = ConvTranspose(a, w)"},
    {"float[A,B] a, float[C] s", "uint8[A,B] y", "y = QuantizeLinear<axis = 1>(a, s)"},
    {"float[A,B,2,C] a", "float[X,Y,Z,V] y", "y = DepthToSpace<blocksize = 2>(a)"},
    {"float[A,2,B,C] a", "float[X,Y,Z,V] y", "y = SpaceToDepth<blocksize = 2>(a)"},
    {"float[A,3] a, int64[C] n", "float[A,3] y", "y = ReverseSequence<time_axis = 1, batch_axis = 0>(a, n)"},
    {"float[A,B] a, int64[4] p", "float[X,Y] y", "y = Pad<mode = \"edge\">(a, p)"},
    {"float[A,2] a, int64[2] r", "float[X,Y] y", "y = Tile(a, r)"},
    {"int64[2] s", "float[X,Y] y", "y = ConstantOfShape(s)"},
    {"bool c, float[A] a, float[B] b", "float[X] y",
     "y = If(c)<then_branch = t() => (float[M] p) { p = Add(a, b) }, else_branch = e() => (float[N] q) { q = Neg(b) "
     "}>"},
    {"float[A] a, float[B] b", "float[X] y",
     "n = Constant<value = int64 {2}>() t = Constant<value = bool {1}>() y = Loop(n, t, a)<body = l(int64 i, bool c, "
     "float[N] s) => (bool d, float[M] r) { d = Identity(c) r = Add(s, b) }>"},
    {"int64 n, float[A,2,B] a, float[C,2,D] b", "float[X,Y,2,Z] y",
     "t = Constant<value = bool {1}>() y = Loop(n, t)<body = l(int64 i, bool c) => (bool d, float[L,M,N] g) { d = "
     "Identity(c) g = Add(a, b) }>"},
    {"float[A,B,2] x, float[1,12,C] w, float[1,12,3] r", "float[A,1,B,3] y", "y = LSTM<hidden_size = 3>(x, w, r)", 1},
    {"float[A,B,2] x, float[1,9,C] w, float[1,9,3] r", "float[A,1,B,3] y", "y = GRU<hidden_size = 3>(x, w, r)", 1},
    {"float[A,2,B,3] x, float[C,2,2,2] g", "float[X,2,2,2] y", "y = GridSample(x, g)"},
    {"float[A,B] x, float[C] s", "float[A,B] y", "y = PRelu(x, s)"},
    {"float[A,B] x, float[C,B] y0", "float[X,B] y", "y = Min(x, y0)"},
    {"float[A,B,4] x, float[C,D,E] s", "int64[F,3] y",
     "m = Constant<value = int64 {2}>() y = NonMaxSuppression(x, s, m)"},
    {"float[A,B] a, float[C,D] b, float[E,F] c", "float[X,Y] y", "p = MatMul(a, b) q = Relu(p) y = Add(q, c)"},
    {"float[A,2] a, float[B,2] b", "float[X,2] y",
     "y = Scan<num_scan_inputs = 2, body = l(float[2] p, float[2] q) => (float[2] r) { r = Add(p, q) }>(a, b)"},
};

Model model_of(const Case& c, int number) {
  return onnx::parse_text(std::string("<ir_version: 10, opset_import: [\"\" : 21]>\nm") + std::to_string(number) +
                          " (" + c.inputs + ") => (" + c.results + ") { " + c.nodes + " }");
}

Array drawn(const std::string& name, DType type, const Dims& dims, std::mt19937& random) {
  Array a(type, dims);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const auto number = static_cast<std::int64_t>(random() % 7);
    const std::int64_t small = number % 2;
    if (type == DType::i64)
      a.mutable_data<std::int64_t>()[k] = name == "i"                                 ? -small
                                          : name == "t" || name == "n" || name == "p" ? small
                                                                                      : number - 2;
    if (type == DType::f32) a.mutable_data<float>()[k] = static_cast<float>(random() % 9) - 4;
    if (type == DType::u8) a.mutable_data<std::uint8_t>()[k] = static_cast<std::uint8_t>(random() % 9);
    if (type == DType::boolean) a.mutable_data<bool>()[k] = random() % 2;
  }
  return a;
}

/// Inputs in memory that ends with them, of sizes that fit by chance: few different ones.
std::vector<engine::NamedDatum> draw_inputs(const Model& model, int least, std::mt19937& random) {
  std::map<std::string, std::int64_t> sizes;
  const auto size = [&] { return least + static_cast<std::int64_t>(random() % static_cast<unsigned>(5 - least)); };
  const std::int64_t usual = size();
  std::vector<engine::NamedDatum> inputs;
  for (const Value* v : model.graph->inputs()) {
    Dims dims;
    for (const Dim& d : *v->type.shape) {
      const std::int64_t drawn_size = random() % 3 ? usual : size();
      dims.push_back(d.is_known() ? d.value() : sizes.try_emplace(d.str(), drawn_size).first->second);
    }
    inputs.push_back({v->name(), Datum(drawn(v->name(), v->type.elem, dims, random))});
  }
  return inputs;
}

struct Ran {
  int code = 0;
  std::vector<Array> outputs;
};

Ran run_code(Call call, const Model& model, const std::vector<engine::NamedDatum>& inputs) {
  std::vector<const void*> given, made(model.graph->output_count());
  std::vector<const std::int64_t*> given_dims;
  std::vector<Dims> dims(made.size(), Dims(8));
  std::vector<std::int64_t*> made_dims;
  for (const auto& i : inputs) {
    given.push_back(i.value.array()->bytes());
    given_dims.push_back(i.value.array()->dims().data());
  }
  for (Dims& d : dims) made_dims.push_back(d.data());
  Ran ran;
  ran.code = call(given.data(), given_dims.data(), made.data(), made_dims.data());
  for (std::size_t i = 0; ran.code == 0 && i < made.size(); ++i) {
    const Type& type = model.graph->output(i)->type;
    dims[i].resize(type.shape->size());
    Array a(type.elem, dims[i]);
    std::memcpy(a.bytes(), made[i], a.byte_size());
    ran.outputs.push_back(std::move(a));
  }
  return ran;
}

void expect_agreement(const Case& c, const Model& model, Call call, std::mt19937& random) {
  const engine::Session session(model);
  int fitting = 0, refused = 0;
  for (int round = 0; round < 150; ++round) {
    const auto inputs = draw_inputs(model, c.least, random);
    std::string shapes, said;
    for (const auto& i : inputs) shapes += " " + i.value.array()->type().str();
    std::vector<engine::NamedDatum> wanted;
    try {
      wanted = session.run(inputs);
    } catch (const Error& error) {
      said = error.what();
    }
    const Ran ran = run_code(call, model, inputs);
    (ran.code == 0 ? fitting : refused)++;
    ASSERT_EQ(ran.code == 0, said.empty()) << c.nodes << " of" << shapes << ": the engine says '" << said << "'";
    for (std::size_t i = 0; i < ran.outputs.size(); ++i) {
      const Array &got = ran.outputs[i], &right = *wanted[i].value.array();
      ASSERT_EQ(got.dims(), right.dims()) << c.nodes << " of" << shapes;
      // Small whole numbers, which no order of sums changes; normalised ones are rounded.
      if (got.dtype() != DType::f32) {
        ASSERT_EQ(std::memcmp(got.bytes(), right.bytes(), got.byte_size()), 0) << c.nodes << " of" << shapes;
        continue;
      }
      for (std::int64_t k = 0; k < got.size(); ++k) {
        const float a = got.data<float>()[static_cast<std::size_t>(k)],
                    b = right.data<float>()[static_cast<std::size_t>(k)];
        ASSERT_TRUE(std::abs(a - b) <= 1e-4f * std::max(1.0f, std::abs(b)) || (std::isnan(a) && std::isnan(b)) ||
                    a == b)
            << c.nodes << " of" << shapes << ": " << a << " for " << b;
      }
    }
  }
  EXPECT_GT(fitting, 0) << c.nodes;
  EXPECT_GT(refused, 0) << c.nodes;
}

TEST(GeneratedSizes, FitEachOtherOrAreRefused) {
  const TempDir directory;
  std::string sources;
  std::vector<Model> models;
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    models.push_back(model_of(kCases[i], static_cast<int>(i)));
    Model model = models.back().clone();
    lower::legalize(model);
    backends::cpp::Options options;
    options.has_entry = true;
    for (const auto& f :
         backends::cpp::emit(lower::lower(model, "net_" + std::to_string(i), {.forests = true}), options))
      write_text(directory / f.name, f.content);
    sources += "#include \"net_" + std::to_string(i) + ".cpp\"\n";
  }
  write_text(directory / "all.cpp", sources);
  const std::string command =
      "cd " + directory.path().string() +
      " && g++ -std=c++17 -O0 -Wall -Wextra -Werror -fPIC -shared -o all.so all.cpp -lm > log 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << read_text(directory / "log").substr(0, 2000);
  void* library = dlopen((directory / "all.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  std::mt19937 random(19);
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    const auto call = reinterpret_cast<Call>(dlsym(library, ("net_" + std::to_string(i) + "_call").c_str()));
    ASSERT_TRUE(call);
    expect_agreement(kCases[i], models[i], call, random);
  }
  dlclose(library);
}

}  // namespace
}  // namespace ingot::test
