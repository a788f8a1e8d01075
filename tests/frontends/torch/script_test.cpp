// The language of the code in archives.
#include <gtest/gtest.h>

#include "ingot/frontends/torch/script/syntax.h"
#include "tests/support/refusal.h"

namespace ingot::frontends::torch::script {
namespace {

TEST(TorchSyntax, ReadsClassesWithMethods) {
  const Module module = parse(R"(class Net(Module):
  __parameters__ = ["weight", ]
  __buffers__ = []
  weight : Tensor
  __annotations__["0"] = __torch__.Linear
  n : Final[int] = 4
  def forward(self: __torch__.Net,
    x: Tensor,
    scale: float=-1.5) -> Tensor:
    a, b, = torch.split(x, [1, 2], dim=1)
    if torch.gt(a, 0):
      y = a
    else:
      y = (b)[0]
    return torch.add(y, CONSTANTS.c0, alpha=1)
)");
  ASSERT_EQ(module.classes.size(), 1u);
  const Class& net = module.classes[0];
  EXPECT_EQ(net.base, "Module");
  EXPECT_EQ(net.parameters, std::vector<std::string>{"weight"});
  ASSERT_EQ(net.fields.size(), 3u);
  EXPECT_EQ(net.fields[1].name, "0");
  EXPECT_EQ(net.fields[2].value->integer, 4);
  ASSERT_EQ(net.methods.size(), 1u);
  const Function& forward = net.methods[0];
  ASSERT_EQ(forward.parameters.size(), 3u);
  EXPECT_EQ(forward.parameters[2].otherwise->kind, Expr::Kind::negate);
  ASSERT_EQ(forward.body.size(), 3u);
  EXPECT_TRUE(forward.body[0]->unpacks);
  EXPECT_EQ(forward.body[0]->value->keywords, std::vector<std::string>{"dim"});
  EXPECT_EQ(forward.body[1]->kind, Statement::Kind::choice);
  EXPECT_EQ(forward.body[1]->otherwise.size(), 1u);
}

TEST(TorchSyntax, ReadsLoopsAndTexts) {
  const Module module = parse(
      "def f(n: int) -> str:\n  for i in range(n):\n    pass\n  while True:\n    n = -9223372036854775808\n  return "
      "\"a\\n\\x41\\101\"\n");
  const Function& f = module.functions.at(0);
  EXPECT_EQ(f.body[0]->kind, Statement::Kind::count);
  EXPECT_EQ(f.body[1]->kind, Statement::Kind::loop);
  EXPECT_EQ(f.body[2]->value->text, "a\nAA");
}

/// Calls and names, nothing else.
std::string described(const Expr& e) {
  if (e.kind == Expr::Kind::name) return e.text;
  if (e.kind == Expr::Kind::integer) return std::to_string(e.integer);
  if (e.kind == Expr::Kind::none) return "None";
  if (e.kind == Expr::Kind::text) return "'" + e.text + "'";
  if (e.kind == Expr::Kind::negate) return "-" + described(*e.parts[0]);
  if (e.kind == Expr::Kind::both || e.kind == Expr::Kind::either)
    return "(" + described(*e.parts[0]) + (e.kind == Expr::Kind::both ? " and " : " or ") + described(*e.parts[1]) +
           ")";
  if (e.kind == Expr::Kind::choice)
    return "(" + described(*e.parts[1]) + " if " + described(*e.parts[0]) + " else " + described(*e.parts[2]) + ")";
  std::string text = dotted(*e.parts.at(0)) + "(";
  for (std::size_t i = 1; i < e.parts.size(); ++i) text += (i > 1 ? ", " : "") + described(*e.parts[i]);
  return text + ")";
}

TEST(TorchSyntax, OperatorsAreTheCallsTheyMean) {
  const auto meaning = [](const std::string& code) {
    return described(*parse("def f(a, b, c):\n  return " + code + "\n").functions.at(0).body.at(0)->value);
  };
  EXPECT_EQ(meaning("a + b * c"), "torch.add(a, torch.mul(b, c))");
  EXPECT_EQ(meaning("a - b - c"), "torch.sub(torch.sub(a, b), c)");
  EXPECT_EQ(meaning("(a - b) / -c"), "torch.div(torch.sub(a, b), -c)");
  EXPECT_EQ(meaning("-a + b"), "torch.add(-a, b)");
  EXPECT_EQ(meaning("a < b and not c == 1"), "(torch.lt(a, b) and torch.__not__(torch.eq(c, 1)))");
  EXPECT_EQ(meaning("a or b and c"), "(a or (b and c))");
  EXPECT_EQ(meaning("a < b <= c"), "(torch.lt(a, b) and torch.le(b, c))");
  EXPECT_EQ(meaning("a ** -b ** c"), "torch.pow(a, -torch.pow(b, c))");
  EXPECT_EQ(meaning("-a ** 2"), "-torch.pow(a, 2)");
  EXPECT_EQ(meaning("a << 1 & ~b"), "torch.__and__(torch.__lshift__(a, 1), torch.bitwise_not(b))");
  EXPECT_EQ(meaning("a not in b"), "torch.__not__(torch.__contains__(b, a))");
  EXPECT_EQ(meaning("a is not None"), "torch.__isnot__(a, None)");
  EXPECT_EQ(meaning("a if b in c else 1 if b else 2"), "(a if torch.__contains__(c, b) else (1 if b else 2))");
  EXPECT_EQ(meaning("f'{a} of {b + 1:.2f}'"), "torch.format('{} of {}', a, torch.add(b, 1))");
  EXPECT_REFUSED(Code::too_deep, meaning("a" + [] {
                   std::string more;
                   for (int i = 0; i < 5000; ++i) more += " + a";
                   return more;
                 }()));
  EXPECT_REFUSED(Code::text_syntax, meaning("a +"));
}

TEST(TorchSyntax, ReadsStatementsAsPeopleWriteThem) {
  const Module module = parse(R"(def f(x):
  assert x is not None, "nothing"
  for i, (a, b) in enumerate(x):
    y[i, ..., :2, 1:] -= a
  if a:
    return a
  elif b:
    raise ValueError("no")
  return a, b
)");
  const Block& body = module.functions.at(0).body;
  ASSERT_EQ(body.size(), 4u);
  EXPECT_EQ(body[0]->kind, Statement::Kind::choice);
  EXPECT_EQ(body[0]->otherwise.size(), 1u);
  EXPECT_TRUE(body[1]->unpacks);
  const Statement& change = *body[1]->body.at(0);
  EXPECT_EQ(change.kind, Statement::Kind::change);
  EXPECT_EQ(change.op, "sub");
  EXPECT_EQ(change.targets.at(0)->parts[1]->parts.size(), 4u);
  EXPECT_EQ(body[2]->otherwise.at(0)->kind, Statement::Kind::choice);
  EXPECT_EQ(body[3]->value->kind, Expr::Kind::tuple);
}

TEST(TorchSyntax, ReadsFunctionsInsideFunctions) {
  const Module module = parse(R"(def f(x: Tensor) -> Tensor:
  def __forked_function():
    return torch.relu(x)
  return torch.wait(fork(__forked_function))
)");
  const Block& body = module.functions.at(0).body;
  ASSERT_EQ(body.size(), 2u);
  EXPECT_EQ(body[0]->kind, Statement::Kind::define);
  EXPECT_EQ(body[0]->targets.at(0)->text, "__forked_function");
  EXPECT_EQ(body[0]->body.size(), 1u);
}

TEST(TorchSyntax, RefusesWhatIsNotOfTheLanguage) {
  EXPECT_REFUSED(Code::text_syntax, parse("def f():\n  while True:\n    break\n"));
  EXPECT_REFUSED(Code::text_syntax, parse("def f():\n  return f'{a'\n"));
  EXPECT_REFUSED(Code::text_syntax, parse("def f():\n  return a not b\n"));
  EXPECT_REFUSED(Code::text_syntax, parse("def f(:\n"));
  EXPECT_REFUSED(Code::text_syntax, parse("import os\nos.system('x')\n"));
  EXPECT_REFUSED(Code::text_syntax, parse("def f():\n  return \"no end\n"));
  EXPECT_REFUSED(Code::text_syntax, parse("def f():\n    x = 1\n  y = 2\n"));
  EXPECT_REFUSED(Code::too_deep, parse("def f():\n  return " + std::string(5000, '(') + std::string(5000, ')') + "\n"));
}

}  // namespace
}  // namespace ingot::frontends::torch::script
