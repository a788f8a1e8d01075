// One weight of a converted model is changed: verify must find it wherever it moves an output by more than the sound
// pair's own noise, must name its node, and must not object to sound pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/inputs.h"
#include "ingot/ir/source_notes.h"
#include "ingot/verify/contender.h"
#include "ingot/verify/verify.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"

namespace ingot {
namespace {

using verify::Distance;
using verify::Verdict;
using Inputs = std::vector<engine::NamedDatum>;

/// Float networks of all formats, small ones first.
constexpr const char* kModels[] = {
    "tflite/hand_gesture/keypoint_classifier/keypoint_classifier.tflite",
    "frozen_pb/tf2onnx/fc-layers/frozen.pb",
    "onnx/hand_gesture/point_history_classifier/point_history_classifier.onnx",
    "tfjs/human/antispoof/antispoof.json",
    "onnx/hand_gesture/keypoint_classifier/keypoint_classifier.onnx",
    "onnx/hand_gesture/point_history_classifier/point_history_classifier_lstm.onnx",
    "onnx/ml_small/tutorials/external-models/pytorch_cnn_mnist.onnx",
    "onnx/ml_small/Interop/ONNX/src/test/resources/org/tribuo/interop/onnx/cnn_mnist.onnx",
    "onnx/ort_examples/c_cxx/MNIST/mnist.onnx",
    "onnx/wonnx/data/models/opt-mnist.onnx",
    "onnx/openwakeword/hey_rhasspy_v0.1.onnx",
    "onnx/openwakeword/alexa_v0.1.onnx",
    "onnx/openwakeword_deepa/hello_deepa.onnx",
    "onnx/ml_small/Interop/ONNX/src/test/resources/org/tribuo/interop/onnx/extractors/tinybert.onnx",
    "onnx/dtln/model_1.onnx",
    "tflite/mlperf_tiny/anomaly_detection/trained_models/ad01_fp32.tflite",
    "tflite/mlperf_tiny/image_classification/trained_models/pretrainedResnet.tflite",
    "tflite/mlperf_tiny/visual_wake_words/trained_models/vww_96_float.tflite",
    "tflite/openwakeword/hey_rhasspy_v0.1.tflite",
    "tflite/openwakeword/alexa_v0.1.tflite",
    "tflite/openwakeword/hey_mycroft_v0.1.tflite",
    "tflite/mediapipe_selfie_segmentation/selfie_segmentation.tflite",
    "tflite/mediapipe_face_detection/face_detection_short_range.tflite",
    "frozen_pb/tf2onnx/gru/frozen.pb",
    "frozen_pb/tf2onnx/lstm/frozen.pb",
    "frozen_pb/tf2onnx/ae0/frozen.pb",
    "frozen_pb/tract_hey_snips/hey_snips_3.pb",
    "tfjs/human/emotion/emotion.json",
    "tfjs/human/blazeface/blazeface.json",
    "tfjs/human/facemesh-detection-short/facemesh-detection-short.json",
    "savedmodel/lunar_lander",
    "savedmodel/mlperf_tiny_kws/kws_ref_model",
};
constexpr std::size_t kSample = 4;
constexpr int kOpsets[] = {13, 17, 21};
constexpr std::uint32_t kSeeds = 3;
constexpr double kVisible = 5;  // times the pair's noise

struct Tally {
  int sound = 0, alarms = 0, undecided = 0;
  int changes = 0, visible = 0, found = 0, missed = 0, invisible_found = 0;
  int bisected = 0, named = 0;
};

/// A weight that is read by one node, and that node's name for what it gives.
struct Weight {
  std::string initializer, node_output;
};

std::vector<Weight> weights_of(const Model& model) {
  std::vector<Weight> weights;
  for (const Value* v : model.graph->initializers())
    if (v->initializer && !v->is_input() && v->initializer->dtype() == DType::f32 && v->uses().size() == 1 &&
        v->uses()[0].node && v->uses()[0].node->output() && Array::from(*v->initializer).size() > 1)
      weights.push_back({v->name(), v->uses()[0].node->output()->name()});
  return weights;
}

/// Weights that are Constant nodes or inputs with a default, as some exporters write them.
void make_initializers(Model& model) {
  const std::vector<Value*> stored(model.graph->initializers().begin(), model.graph->initializers().end());
  for (Value* v : stored)
    if (v->is_input()) model.graph->set_is_input(v, false);
  for (Node& node : model.graph->nodes()) {
    const Tensor* value = node.is("Constant") ? node.attributes.get<Tensor>("value") : nullptr;
    if (!value || value->dtype() != DType::f32 || node.output()->uses().empty()) continue;
    Value* constant = model.graph->add_initializer(model.graph->fresh_name(node.output()->name() + "/value"), *value);
    model.graph->replace_all_uses(node.output(), constant);
  }
}

/// One element moved by a thousandth to three times of the largest one.
void change(Model& model, const std::string& name, std::mt19937& random) {
  Value* v = model.graph->find(name);
  std::vector<float> values = v->initializer->to_vector<float>();
  float largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(x));
  const double size = std::pow(10.0, std::uniform_real_distribution<>(-3, 0.5)(random));
  const double sign = random() % 2 ? 1 : -1;
  values[random() % values.size()] += static_cast<float>(sign * size * std::max(largest, 1e-3f));
  v->initializer = Tensor::of<float>(v->initializer->dims(), values);
}

/// For each output the largest distance over all seeds, by the scale.
class Distances {
 public:
  void add(const Inputs& a, const Inputs& b) {
    values_.resize(std::max(values_.size(), a.size()));
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const Array *x = a[i].value.array(), *y = b[i].value.array();
      if (!x || !y || x->dims() != y->dims()) continue;
      const auto d = verify::distance(*x, *y);
      if (!d || d->unit != Distance::Unit::absolute) continue;
      values_[i] = std::max(values_[i], d->value / std::max(d->scale, 1e-30));
    }
  }
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
};

class Tampering {
 public:
  Tampering(std::string source, int opset, int changes, Tally& tally)
      : source_(std::move(source)), opset_(opset), changes_(changes), tally_(tally) {}

  void run() {
    sound_ = driver::load(source_).model;
    make_initializers(sound_);
    driver::AdjustOptions options;
    options.opset = opset_;
    driver::adjust(sound_, options);
    driver::save(sound_, directory_ / "sound.onnx");
    verify::VerifyRequest request = request_for("sound.onnx");
    for (const std::uint32_t seed : {1u, 11u, 21u}) {
      request.seed = seed;
      const Verdict v = verify::verify(request);
      ++tally_.sound;
      tally_.undecided += v.answer == Verdict::Answer::unknown;
      if (v.runs == 0) throw Error(Code::unsupported_feature, v.why_unknown);
      if (v.answer == Verdict::Answer::different) {
        ++tally_.alarms;
        std::printf("    FALSE ALARM, seed %u: %s\n", seed, text_of(v).c_str());
      }
    }
    measure_noise();
    const std::vector<Weight> weights = weights_of(sound_);
    std::mt19937 random(static_cast<std::uint32_t>(opset_));
    for (int i = 0; i < changes_ && !weights.empty(); ++i) tamper(weights[random() % weights.size()], random);
  }

 private:
  verify::VerifyRequest request_for(const std::string& file) {
    verify::VerifyRequest request;
    request.a.file = source_;
    request.b.file = directory_ / file;
    request.peers = test::peers();
    return request;
  }

  static std::string text_of(const Verdict& v) {
    std::string text;
    for (const auto& o : v.outputs)
      if (!o.agrees) text += o.a_name + " " + o.figure + ", at most " + o.threshold + " (" + o.source + ") ";
    if (v.first)
      text += "at " + v.first->name + " / " + v.first->b_name + " " + v.first->figure + ", at most " +
              v.first->threshold + " (" + v.first->source + ")";
    return text;
  }

  /// What the sound pair differs by, at least what float tells apart.
  void measure_noise() {
    verify::Contender a(source_, {}, {}, test::peers(), verify::Contender::Role::reference);
    Distances noise;
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
      inputs_.push_back(driver::random_inputs(a.model(), seed));
      const auto a_answer = a.run(inputs_.back());
      for (std::size_t i = 0; i < inputs_.back().size(); ++i)
        inputs_.back()[i].name = sound_.graph->inputs()[i]->name();
      sound_answers_.push_back(verify::run_in_ingot(sound_, inputs_.back(), {}, nullptr).outputs);
      noise.add(a_answer.outputs, sound_answers_.back());
    }
    noise_ = noise.values();
  }

  bool is_visible(const Model& changed) const {
    Distances moved;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      moved.add(sound_answers_[i], verify::run_in_ingot(changed, inputs_[i], {}, nullptr).outputs);
    for (std::size_t i = 0; i < moved.values().size(); ++i)
      if (moved.values()[i] > kVisible * std::max(noise_[i], 1.2e-7)) return true;
    return false;
  }

  void tamper(const Weight& weight, std::mt19937& random) {
    Model changed = sound_.clone();
    change(changed, weight.initializer, random);
    driver::save(changed, directory_ / "changed.onnx");
    const Verdict v = verify::verify(request_for("changed.onnx"));
    const bool is_found = v.answer == Verdict::Answer::different, was_visible = is_visible(changed);
    ++tally_.changes;
    tally_.visible += was_visible;
    tally_.found += is_found && was_visible;
    tally_.invisible_found += is_found && !was_visible;
    if (was_visible && !is_found) {
      ++tally_.missed;
      std::printf("    MISSED: %s of %s: %s\n", weight.initializer.c_str(), weight.node_output.c_str(),
                  v.outputs.empty() ? v.why_unknown.c_str()
                                    : (v.outputs[0].figure + ", at most " + v.outputs[0].threshold).c_str());
    }
    if (!is_found) return;
    ++tally_.bisected;
    const bool is_named = v.first && names(v.first->b_name, weight.node_output);
    tally_.named += is_named;
    if (!is_named)
      std::printf("    not named: %s, but %s\n", weight.node_output.c_str(),
                  v.first ? v.first->b_name.c_str() : v.why_not_bisected.c_str());
  }

  /// Whether a value is what the changed node gives, or comes from the same operator of the source.
  bool names(const std::string& value, const std::string& node_output) const {
    if (value == node_output) return true;
    const Value *named = marked().graph->find(value), *changed = marked().graph->find(node_output);
    if (!named || !changed || !named->producer() || !changed->producer()) return false;
    const auto source = note_of(named->producer()->metadata, kSource);
    return !source.empty() && source == note_of(changed->producer()->metadata, kSource);
  }
  const Model& marked() const {
    if (!marked_.graph || marked_.graph->node_count() == 0) marked_ = driver::load(source_).model;
    return marked_;
  }

  std::string source_;
  int opset_, changes_;
  Tally& tally_;
  test::TempDir directory_;
  Model sound_;
  mutable Model marked_;
  std::vector<Inputs> inputs_, sound_answers_;
  std::vector<double> noise_;
};

TEST(Tamper, ChangedWeightsAreFoundAndSoundPairsAreNot) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the corpus of real models is not here: no shared directory";
  const bool is_whole = std::getenv("INGOT_WHOLE_CORPUS") != nullptr;
  const char* wanted = std::getenv("INGOT_TAMPER_CHANGES");
  const int changes = wanted ? std::atoi(wanted) : is_whole ? 10 : 2;
  Tally tally;
  std::size_t count = 0, ran = 0;
  for (const char* name : kModels) {
    if (!is_whole && count++ == kSample) break;
    for (const int opset : kOpsets) {
      const std::string source = (*shared / "corpus" / name).string();
      const Tally before = tally;
      try {
        Tampering(source, opset, changes, tally).run();
        ++ran;
        std::printf("%s opset %d: %d of %d found\n", name, opset, tally.found - before.found,
                    tally.visible - before.visible);
      } catch (const Error& error) {
        std::printf("%s opset %d: not tried: %s\n", name, opset, error.what());
      }
      std::fflush(stdout);
    }
  }
  std::printf(
      "%zu models and opsets; %d sound pairs and seeds: %d false alarms, %d undecided; %d changes: %d visible, %d of "
      "them found, %d missed, %d invisible ones found; node named in %d of %d\n",
      ran, tally.sound, tally.alarms, tally.undecided, tally.changes, tally.visible, tally.found, tally.missed,
      tally.invisible_found, tally.named, tally.bisected);
  ASSERT_GT(ran, 0u);
  EXPECT_LE(tally.alarms, tally.sound / 200);
  EXPECT_GE(tally.found, static_cast<int>(std::ceil(0.99 * tally.visible)));
  EXPECT_GE(tally.named, static_cast<int>(std::ceil(0.9 * tally.bisected)));
}

}  // namespace
}  // namespace ingot
