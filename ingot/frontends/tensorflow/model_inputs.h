#pragma once
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {

/// The tensor that the port names becomes an input of the model, of the type that the port, the user or the graph
/// states.
void add_input(Translation& t, const Port& port);

}  // namespace ingot::frontends::tensorflow
