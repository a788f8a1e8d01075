// Models to verify, and to damage.
#include "tests/verify/verify_fixture.h"

#include "ingot/onnx/text.h"

namespace ingot {

std::string numbers(int count, int step) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(static_cast<double>((i * step) % 11 - 5) / 10);
  return "{" + text + "}";
}

Model network() {
  return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
net (float[1, 3, 8, 8] x) => (float[1, 5] y)
<float[4, 3, 3, 3] w1 = )" +
                          numbers(108, 7) + R"(,
 float[4, 4, 3, 3] w2 = )" +
                          numbers(144, 5) + R"(,
 float[4, 5] m = )" + numbers(20, 3) +
                          R"(>
{
  c1 = Conv<pads = [1, 1, 1, 1]>(x, w1)
  r1 = Relu(c1)
  c2 = Conv<pads = [1, 1, 1, 1]>(r1, w2)
  r2 = Tanh(c2)
  p = GlobalAveragePool(r2)
  f = Flatten(p)
  y = MatMul(f, m)
})");
}

void damage(Model& model, const std::string& initializer, float by) {
  Value* v = model.graph->find(initializer);
  ASSERT_TRUE(v && v->initializer) << initializer;
  std::vector<float> values = v->initializer->to_vector<float>();
  values[values.size() / 2] += by;
  v->initializer = Tensor::of<float>(v->initializer->dims(), values);
}

}  // namespace ingot
