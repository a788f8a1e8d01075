#pragma once
#include "ingot/ingot.h"
#include "values.h"

namespace ingot::python {

/// Keyword arguments as a request, in the words of the command line: --keep-functions is keep_functions=True. An
/// unknown one is a TypeError that names it.
ConvertRequest to_request(const py::dict& options);

/// Of a model in memory: what of a request can be asked of one. Refuses the rest.
AdjustOptions to_adjust(const ConvertRequest& request);
SaveOptions to_save(const ConvertRequest& request);

}  // namespace ingot::python
