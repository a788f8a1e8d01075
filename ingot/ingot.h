#pragma once

/// The public interface of Ingot: what this header includes keeps its promises between versions.
///
///   const ingot::Model model = ingot::load("model.onnx").model;
///   const ingot::Session session(model);
///   std::vector<float> pixels(1 * 3 * 224 * 224);
///   auto image = ingot::Array::view(ingot::DType::f32, {1, 3, 224, 224}, pixels.data());  // not copied
///   const auto outputs = session.run({{"image", image}});
///   for (const float score : outputs[0].value.array()->data<float>()) ...
///
///   load, load_memory, parse_model, ModelBuilder      a model from a file, from memory, from text, from nothing
///   save, save_memory, convert                        any format that can be written; from file to file with a report
///   inputs_of, nodes_of, ..., summarise, check        what is in a model, and what is wrong with it
///   adjust, optimize                                  another operator set, types inferred, shapes, names; smaller
///   extract, split, merge, rename, diff               parts of models, one of two, other names; what differs
///   quantize, partition, compile                      in integers; divided among targets; as source code
///   Session, random_inputs, verify_models             run it; do two models give the same numbers
///   Trainer, evaluate, make_trainable, gradient_model train it; a model that can be trained, or that is a gradient
///
/// Whatever goes wrong is an ingot::Error. docs/library.md is the guide, examples/ holds a program for each task, and
/// ingot/ingot_c.h is for C.

#include "ingot/api/graph_view.h"
#include "ingot/api/model_builder.h"
#include "ingot/api/optimize.h"
#include "ingot/api/partition.h"
#include "ingot/api/save_memory.h"
#include "ingot/api/session.h"
#include "ingot/api/trainer.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/check.h"
#include "ingot/driver/compile.h"
#include "ingot/driver/convert.h"
#include "ingot/driver/convert_words.h"
#include "ingot/driver/dataset.h"
#include "ingot/driver/datum.h"
#include "ingot/driver/diff.h"
#include "ingot/driver/edit.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/driver/plugin.h"
#include "ingot/driver/quantize_words.h"
#include "ingot/driver/summary.h"
#include "ingot/ir/array.h"
#include "ingot/ir/opaque_model.h"
#include "ingot/train/evaluation.h"
#include "ingot/train/gradient_model.h"
#include "ingot/train/training_info.h"
#include "ingot/verify/conversion.h"
#include "ingot/verify/verify.h"

namespace ingot {

using driver::adjust;
using driver::AdjustOptions;
using driver::AdjustReport;
using driver::all_formats;
using driver::AutoCast;
using driver::check;
using driver::Comparison;
using driver::compile;
using driver::compile_targets;
using driver::CompileReport;
using driver::CompileRequest;
using driver::convert;
using driver::ConvertReport;
using driver::ConvertRequest;
using driver::DataForm;
using driver::diff;
using driver::Difference;
using driver::extract;
using driver::Format;
using driver::format_by_name;
using driver::ImportOptions;
using driver::Inputs;
using driver::InputShapes;
using driver::InputTypes;
using driver::InputValues;
using driver::Layout;
using driver::LayoutWish;
using driver::load;
using driver::load_dataset;
using driver::load_datum;
using driver::load_inputs;
using driver::load_memory;
using driver::load_plugin;
using driver::Loaded;
using driver::LoadOptions;
using driver::merge;
using driver::MergeOptions;
using driver::MergeReport;
using driver::Mode;
using driver::Precision;
using driver::Problem;
using driver::Quantize;
using driver::quantize;
using driver::quantize_request;
using driver::QuantizeRequest;
using driver::QuantizeResult;
using driver::QuantizeWords;
using driver::random_inputs;
using driver::readable_text;
using driver::rename;
using driver::RenameOptions;
using driver::Renames;
using driver::save;
using driver::save_datum;
using driver::save_outputs;
using driver::SaveOptions;
using driver::set_random_samples;
using driver::set_samples;
using driver::Severity;
using driver::split;
using driver::SplitOptions;
using driver::summarise;
using driver::Summary;
using driver::Verifier;
using driver::WeightForm;
using passes::HalfOptions;
using passes::HalfReport;
using train::Dataset;
using train::dataset_of;
using train::DatasetOptions;
using train::EpochEnd;
using train::evaluate;
using train::Evaluation;
using train::EvaluationOptions;
using train::gradient_model;
using train::GradientModelOptions;
using train::LoopEvents;
using train::LoopOptions;
using train::LoopReport;
using train::LossOptions;
using train::make_trainable;
using train::MakeTrainableOptions;
using train::OptimizerOptions;
using train::ParameterOptions;
using train::Progress;
using train::TrainingOptions;
using verify::ConversionInputs;
using verify::find_peers;
using verify::FirstDifference;
using verify::OutputVerdict;
using verify::Peers;
using verify::Runtime;
using verify::SideRequest;
using verify::Verdict;
using verify::verifier;
using verify::VerifyRequest;

/// Runs both models on the same inputs and compares their outputs: verify::verify, whose folder has its name.
inline Verdict verify_models(const VerifyRequest& request) { return verify::verify(request); }

}  // namespace ingot
