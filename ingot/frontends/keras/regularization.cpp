// Layers that are random while training and nothing else while running.
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {

void identity(Call& call) { call.outputs = call.inputs; }

void dropout(Call& call) {
  const double rate = call.number("rate", 0.5);
  if (!call.import.options.is_training || rate <= 0) return identity(call);
  GraphBuilder& b = call.b;
  call.set(b.op("Dropout", {call.in(), b.scalar(rate, DType::f32), b.scalar(0, DType::boolean)}));
}

/// Noise, and dropout of whole channels.
void regularization(Call& call) {
  if (call.import.options.is_training)
    call.import.notes.add("layer '" + call.layer.scope + "' (" + call.layer.class_name +
                          ") is random in Keras while training; here it does nothing");
  identity(call);
}

}  // namespace ingot::frontends::keras
