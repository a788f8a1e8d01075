// What a model's results owe to rounding.
#include "ingot/driver/noise.h"

#include "ingot/passes/shake.h"
#include "ingot/passes/widen.h"

namespace ingot::driver {

Model in_double(const Model& model) {
  Model twin = model.clone();
  passes::widen_floats(twin);
  return twin;
}

std::optional<Model> with_shaken_steps(const Model& model, std::uint32_t seed) {
  Model twin = model.clone();
  if (passes::shake_quantization(twin, seed) == 0) return std::nullopt;
  return twin;
}

}  // namespace ingot::driver
