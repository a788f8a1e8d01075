// Names of a hostile model are no code: in C++, C, MLIR, MATLAB and the ONNX dialect of MLIR.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "ingot/backends/cpp/emit.h"
#include "ingot/backends/cpp/names.h"
#include "ingot/backends/matlab/emit.h"
#include "ingot/backends/matlab/functions.h"
#include "ingot/backends/mlir/emit.h"
#include "ingot/backends/mlir/onnx_dialect.h"
#include "ingot/lower/lower.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/canonicalize.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

// Each would be a call of EVIL if it stood outside comments and strings.
constexpr const char* kHostile[] = {
    "\nEVIL();//",
    "*/ EVIL(); /*",
    "\");EVIL();(\"",
    "');EVIL();('",
    "\r\nEVIL();%",
    "x\\\nEVIL();",
    "x?"
    "?/\nEVIL();",
    "\xe2\x80\xa8"
    "EVIL();",
    "\xe2\x80\xae"
    "EVIL();",
    "\nend\nEVIL();\nfunction f()\n%",
    "\n#define x EVIL()",
    "%{\nEVIL();\n%}",
    "\\22EVIL();",
    "\\\"EVIL();",
    "\v\fEVIL();\x1b[2J",
};

/// A model in which everything that has a name has this one.
Model hostile_model(const std::string& name) {
  Model model = onnx::parse_text(R"(
<ir_version: 10, opset_import: ["" : 21]>
g (float[N,3] x) => (float[N,2] y, float[N,3] z)
<float[3,2] w = {1, 2, 3, 4, 5, 6}>
{
  [first] h = MatMul(x, w)
  [second] y = Relu(h)
  [third] z = Exp(x)
})");
  int number = 0;
  const auto next = [&] { return name + std::to_string(number++); };
  Graph& graph = *model.graph;
  graph.name = next();
  for (Value* input : graph.inputs()) {
    (*input->type.shape)[0] = Dim::symbol(name);
    graph.rename(input, next());
  }
  for (Value* weight : graph.initializers()) graph.rename(weight, next());
  for (Node& node : graph.nodes()) {
    node.name = next();
    for (Value* v : node.outputs()) graph.rename(v, next());
  }
  return model;
}

/// The text without its comments and strings.
std::string code_of(const std::string& text, const std::string& comment) {
  std::string code;
  bool is_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_string) {
      if (text[at] == '\\') ++at;
      is_string = text[at] != '"' && text[at] != '\n';
    } else if (text.compare(at, comment.size(), comment) == 0) {
      while (at < text.size() && text[at] != '\n') ++at;
      EXPECT_NE(text[at - 1], '\\') << "a comment goes on in the next line";
      code += '\n';
    } else if (text[at] == '"') {
      is_string = true;
    } else {
      code += text[at];
    }
  }
  return code;
}

void expect_harmless(const std::string& file, const std::string& text, const std::string& comment) {
  const std::string code = code_of(text, comment);
  EXPECT_EQ(code.find("EVIL("), std::string::npos) << file << ":\n" << text;
  EXPECT_EQ(code.find("#define x"), std::string::npos) << file << ":\n" << text;
  for (const unsigned char c : text) ASSERT_TRUE(c == '\n' || (c >= 32 && c < 127)) << file << " has byte " << int{c};
}

TEST(GeneratedNames, AreNoCodeInAnyLanguage) {
  ASSERT_NE(code_of("// a \nEVIL();", "//").find("EVIL("), std::string::npos);
  ASSERT_NE(code_of("f(\"a\");EVIL();(\"\")", "//").find("EVIL("), std::string::npos);
  for (const char* name : kHostile) {
    SCOPED_TRACE(name);
    Model model = hostile_model(name);
    passes::canonicalize(model);
    expect_harmless("onnx.mlir", backends::mlir::onnx_dialect(model), "//");
    lower::legalize(model);
    const lower::Program program = lower::lower(model, "net");
    backends::cpp::Options options;
    options.has_test = options.has_profile = true;
    for (const auto& f : backends::cpp::emit(program, options))
      if (!f.name.ends_with(".cmake") && !f.name.ends_with(".bin")) expect_harmless(f.name, f.content, "//");
    for (const auto& f : backends::mlir::emit(program))
      if (!f.name.ends_with(".bin")) expect_harmless(f.name, f.content, "//");
    for (const auto& f : backends::matlab::emit(program))
      if (f.name.ends_with(".m")) expect_harmless(f.name, f.content, "%");
  }
}

TEST(GeneratedNames, LeaveCodeThatCompilesWithoutAWarning) {
  const TempDir directory;
  std::string sources;
  for (std::size_t i = 0; i < std::size(kHostile); ++i) {
    Model model = hostile_model(kHostile[i]);
    lower::legalize(model);
    backends::cpp::Options options;
    options.has_profile = true;
    const std::string name = "net_" + std::to_string(i);
    for (const auto& f : backends::cpp::emit(lower::lower(model, name), options))
      write_text(directory / f.name, f.content);
    sources += "#include \"" + name + ".cpp\"\n";
  }
  write_text(directory / "all.cpp", sources);
  const std::string command =
      "cd " + directory.path().string() + " && g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only all.cpp > log 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_text(directory / "log");
}

constexpr const char* kOwnNames = R"(
<ir_version: 10, opset_import: ["" : 21]>
g (float[many,2,8,8] picture, double[4,4] square) => (float[many,2,4,4] kept, double[4,4] powers, int64[2,found] places)
{
  d = MaxPool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(picture)
  f = Softmax(d)
  g = Floor(f)
  h = Erf(g)
  kept = Add(f, h)
  m = MatMul(square, square)
  n = Exp(m)
  powers = Pow(n, n)
  places = NonZero(square)
})";

std::set<std::string> words_of(const std::string& code) {
  std::set<std::string> words;
  const std::regex word("\\b[A-Za-z_][A-Za-z_0-9]*");
  for (auto at = std::sregex_iterator(code.begin(), code.end(), word); at != std::sregex_iterator(); ++at)
    words.insert(at->str());
  return words;
}

TEST(GeneratedNames, AreNoWordOfTheCodeItself) {
  const std::set<std::string> own = {"many", "picture", "square", "kept", "powers", "places", "net"};
  Model model = onnx::parse_text(kOwnNames);
  lower::legalize(model);
  const lower::Program program = lower::lower(model, "net");
  backends::cpp::Options options;
  options.has_profile = options.has_threads = options.weights_in_file = true;
  for (const auto& f : backends::cpp::emit(program, options)) {
    if (f.name != "net.cpp") continue;
    const std::string code = code_of(f.content, "//");
    const std::size_t steps = code.find("static void step_0"), run = code.find("int run(");
    const std::string both =
        code.substr(steps, code.find("void set_weights") - steps) + code.substr(run, code.find("\n}\n", run) - run);
    for (const std::string& word : words_of(both))
      if (!own.contains(word) && !word.starts_with("out_") && !word.starts_with("dims_")) {
        EXPECT_NE(backends::cpp::Names().identifier(word), word);
      }
  }
  for (const auto& f : backends::matlab::emit(program)) {
    if (!f.name.ends_with(".m")) continue;
    const std::size_t begin = f.content.find('\n');
    const std::string body = f.content.substr(begin, f.content.find("\nend\n") - begin);
    std::string code;
    for (std::size_t at = 0, end = 0; at < body.size(); at = end + 1) {
      end = std::min(body.find('\n', at), body.size());
      if (body.find('%', at) > end) code += body.substr(at, end - at) + "\n";
    }
    for (const std::string& word : words_of(std::regex_replace(code, std::regex("'[^'\n]*'"), "")))
      if (!own.contains(word)) {
        EXPECT_NE(backends::cpp::Names(backends::matlab::taken_words()).identifier(word), word);
      }
  }
}

TEST(GeneratedNames, LeaveEachOtherAlone) {
  backends::cpp::Names names({"net_on_step"});
  EXPECT_EQ(names.identifier("dims_y"), "dims_y");
  EXPECT_EQ(names.identifier("y", "output", {"out_", "dims_"}), "y_2");
  EXPECT_EQ(names.identifier("out_y_2"), "out_y_2_2");
  EXPECT_NE(names.identifier("net_on_step"), "net_on_step");
  EXPECT_EQ(names.identifier("INPUT"), "INPUT_");
  EXPECT_EQ(names.identifier("INPUT"), "INPUT__2");
  EXPECT_EQ(names.identifier("in"), "in_");
  EXPECT_EQ(names.identifier("X"), "X");
  EXPECT_EQ(backends::cpp::global_identifier("model_f16", "model"), "model_f16");
  EXPECT_EQ(backends::cpp::global_identifier("index", "model"), "index_");
  EXPECT_EQ(backends::matlab::function_name("sum"), "sum_2");
}

}  // namespace
}  // namespace ingot::test
