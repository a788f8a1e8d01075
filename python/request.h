#pragma once
#include "ingot/ingot.h"
#include "values.h"

namespace ingot::python {

/// Keyword arguments as a request, in the words of the command line: --keep-functions is keep_functions=True. An
/// unknown one is a TypeError that names it.
ConvertRequest to_request(const py::dict& options);

/// The names of all of them.
std::vector<std::string> option_names();

/// What the reader of a file is told.
LoadOptions to_load(const ConvertRequest& request);
/// Refuse what means nothing of a model that is in memory, and what means nothing before it is changed or written.
void refuse_reading(const ConvertRequest& request);
void refuse_writing(const ConvertRequest& request);

}  // namespace ingot::python
