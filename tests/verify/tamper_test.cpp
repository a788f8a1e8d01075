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

/// Networks of all formats, small ones first; among those of TFLite are quantised ones.
constexpr const char* kModels[] = {
    "tflite/hand_gesture/keypoint_classifier/keypoint_classifier.tflite",
    "frozen_pb/tf2onnx/fc-layers/frozen.pb",
    "onnx/hand_gesture/point_history_classifier/point_history_classifier.onnx",
    "tfjs/human/antispoof/antispoof.json",
    "keras/hand_gesture/keypoint_classifier/keypoint_classifier.hdf5",
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
    "tflite/mlperf_tiny/keyword_spotting/trained_models/kws_ref_model_float32.tflite",
    "tflite/mlperf_tiny/keyword_spotting/trained_models/kws_ref_model.tflite",
    "tflite/mlperf_tiny/anomaly_detection/trained_models/ad01_int8.tflite",
    "tflite/mlperf_tiny/image_classification/trained_models/pretrainedResnet_quant.tflite",
    "tflite/mlperf_tiny/visual_wake_words/trained_models/vww_96_int8.tflite",
    "tflite/mlperf_tiny/streaming_wakeword/trained_models/str_ww_ref_model.tflite",
    "tflite/tflite_micro/tensorflow/lite/micro/examples/hello_world/models/hello_world_int8.tflite",
    "tflite/tflite_micro/tensorflow/lite/micro/examples/hello_world/models/hello_world_float.tflite",
    "tflite/tflite_micro/tensorflow/lite/micro/examples/micro_speech/models/micro_speech_quantized.tflite",
    "tflite/tflite_micro/tensorflow/lite/micro/models/person_detect.tflite",
    "tflite/tflite_micro/tensorflow/lite/micro/examples/mnist_lstm/trained_lstm.tflite",
    "tflite/dtln/model_1.tflite",
    "onnx/dtln/model_2.onnx",
    "onnx/openwakeword/hey_mycroft_v0.1.onnx",
    "onnx/openwakeword/hey_jarvis_v0.1.onnx",
    "keras/hand_gesture/point_history_classifier/point_history_classifier.hdf5",
    "keras/face_classification/emotion_models/tiny_XCEPTION_KDEF.hdf5",
    "tfjs/tfjs_examples/angular-predictive-prefetching/client/src/assets/model.json",
    "tfjs/tfjs_repo/tfjs-react-native/integration_rn59/assets/graph_model/model.json",
};
constexpr std::size_t kSample = 5;
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

bool is_quantized(DType t) { return t == DType::i8 || t == DType::u8; }

/// What reads a constant first that is not a constant itself: a quantised weight becomes a float on the way.
const Node* reader_of(const Value* v) {
  for (;;) {
    if (v->uses().size() != 1 || !v->uses()[0].node || !v->uses()[0].node->output()) return nullptr;
    const Node* node = v->uses()[0].node;
    for (const Value* in : node->inputs())
      if (in && !in->initializer && in != v) return node;
    if (node->input_count() == 1 && !node->is("Transpose") && !node->is("Cast")) return node;
    v = node->output();
  }
}

std::vector<Weight> weights_of(const Model& model) {
  std::vector<Weight> weights;
  for (const Value* v : model.graph->initializers()) {
    if (!v->initializer || v->is_input()) continue;
    const Array array = Array::from(*v->initializer);
    const bool is_weight =
        array.dtype() == DType::f32 ? array.size() > 1 : is_quantized(array.dtype()) && array.size() > 16;
    const Node* reader = is_weight ? reader_of(v) : nullptr;
    if (reader) weights.push_back({v->name(), reader->output()->name()});
  }
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

/// A quantised element becomes any other one.
template <class T> void redraw(Value* v, std::mt19937& random) {
  std::vector<T> values = v->initializer->to_vector<T>();
  T& element = values[random() % values.size()];
  const T before = element;
  while (element == before) element = static_cast<T>(random() % 255 + (std::is_signed_v<T> ? -127 : 0));
  v->initializer = Tensor::of<T>(v->initializer->dims(), values);
}

/// One element moved by a thousandth to three times of the largest one.
void change(Model& model, const std::string& name, std::mt19937& random) {
  Value* v = model.graph->find(name);
  if (v->initializer->dtype() == DType::i8) return redraw<std::int8_t>(v, random);
  if (v->initializer->dtype() == DType::u8) return redraw<std::uint8_t>(v, random);
  std::vector<float> values = v->initializer->to_vector<float>();
  float largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(x));
  const double size = std::pow(10.0, std::uniform_real_distribution<>(-3, 0.5)(random));
  const double sign = random() % 2 ? 1 : -1;
  values[random() % values.size()] += static_cast<float>(sign * size * std::max(largest, 1e-3f));
  v->initializer = Tensor::of<float>(v->initializer->dims(), values);
}

/// For each output the largest distance over all seeds, by the scale, or in steps.
class Distances {
 public:
  void add(const Inputs& a, const Inputs& b) {
    values_.resize(std::max(values_.size(), a.size()));
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const Array *x = a[i].value.array(), *y = b[i].value.array();
      if (!x || !y || x->dims() != y->dims()) continue;
      const auto d = verify::distance(*x, *y);
      if (!d || d->unit == Distance::Unit::elements) continue;
      const bool is_float = d->unit == Distance::Unit::absolute;
      values_[i] = std::max(values_[i], is_float ? d->value / std::max(d->scale, 1e-30) : d->value);
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
    // All seeds at once; behind one that gives an alarm it goes on.
    const auto last = static_cast<std::uint32_t>(changes_);
    for (request.seed = 1; request.seed <= last; ++request.seed) {
      request.seeds = last + 1 - request.seed;
      const Verdict v = verify::verify(request);
      if (v.runs == 0) throw Error(Code::unsupported_feature, v.why_unknown);
      const bool is_alarm = v.answer == Verdict::Answer::different;
      const auto seen = static_cast<std::uint32_t>(is_alarm ? v.runs : request.seeds);
      tally_.sound += static_cast<int>(seen);
      tally_.undecided += v.answer == Verdict::Answer::unknown;
      request.seed += seen - 1;
      if (!is_alarm) continue;
      ++tally_.alarms;
      std::printf("    FALSE ALARM, seed %u: %s\n", request.seed, text_of(v).c_str());
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
    noise_.resize(sound_answers_[0].size());  // where no other runtime runs the source, there is none
  }

  bool is_visible(const Model& changed) const {
    Distances moved;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      moved.add(sound_answers_[i], verify::run_in_ingot(changed, inputs_[i], {}, nullptr).outputs);
    for (std::size_t i = 0; i < moved.values().size(); ++i) {
      const Array* output = sound_answers_[0][i].value.array();
      const double least = output && is_float(output->dtype()) ? 1.2e-7 : 1;
      if (moved.values()[i] > kVisible * std::max(noise_[i], least)) return true;
    }
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
  const int changes = wanted ? std::atoi(wanted) : is_whole ? 7 : 2;
  static_assert(std::size(kModels) * std::size(kOpsets) * 7 >= 1000 && std::size(kModels) >= 50);
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
