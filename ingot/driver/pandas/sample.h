#pragma once
#include <string>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/frontends/pandas/import.h"

namespace ingot::driver::pandas {

/// Rows of a CSV file, by columns.
struct SampleTable {
  frontends::pandas::Schema schema{};               // as pandas.read_csv would have it
  std::vector<std::vector<std::string>> columns{};  // a missing field is empty
};

/// Reads at most so many rows.
SampleTable read_sample(const Bytes& file, std::size_t most_rows = 1'000'000);

/// "a:float,b:int,t:text,f:bool"
frontends::pandas::Schema parse_schema(const std::string& text);

/// The one output of a model on the rows of the sample.
frontends::pandas::Sample run_on_sample(const Model& model, const SampleTable& sample);

}  // namespace ingot::driver::pandas
