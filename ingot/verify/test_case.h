#pragma once
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/ir/array.h"
#include "ingot/verify/compare.h"

namespace ingot::verify {

/// Where a stored test case lies: a directory with model.onnx and test_data_set_0, ... (the official layout), or a
/// model without stored inputs, name.onnx, beside name_output_0.pb (the official "light" models).
struct TestCase {
  std::string name;
  std::string model;
  std::vector<std::string> data_sets;      // directories; empty for a light model
  std::vector<std::string> light_outputs;  // files
  Tolerance tolerance;
};

/// All cases in and below the directories, sorted by path. Links to directories are not followed.
std::vector<TestCase> find_test_cases(const std::vector<std::string>& directories);

/// The values of one data set by the position of the graph's inputs and outputs; shorter where fewer are stored.
struct TestData {
  std::vector<std::pair<std::string, Datum>> inputs;  // by name
  std::vector<Datum> outputs;
};

/// How many data sets a case has: one for a light model.
std::size_t data_set_count(const TestCase& test);
TestData load_test_data(const TestCase& test, std::size_t set, const Model& model,
                        const driver::LoadOptions& options = {});

/// Writes a case in the official layout: the model as given, all of its data, and the tolerances.
void write_test_case(const TestCase& test, const Model& original, const Model& model, const std::string& directory,
                     const driver::LoadOptions& options = {});

}  // namespace ingot::verify
