// Names of a hostile model are no code: in C++, C, MLIR, MATLAB and the ONNX dialect of MLIR.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ingot/backends/cpp/emit.h"
#include "ingot/backends/matlab/emit.h"
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

}  // namespace
}  // namespace ingot::test
