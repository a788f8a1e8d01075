// ingot bench: how fast a model is, alone or beside ONNX Runtime.
#include "ingot/measure/bench.h"

#include <chrono>
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/options.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

using measure::BenchResult;
using measure::Measured;

struct Options {
  std::string model, from, peer, peers;
  std::vector<std::string> inputs, input_shapes;
  std::uint32_t seed = 1;
  std::size_t runs = 30;
  int threads = 0;
  bool json = false;
};

std::string number(double v, int digits = 4) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*g", digits, v);
  // %g writes long numbers with an exponent.
  if (v >= 1000 && v < 1e15) std::snprintf(text, sizeof text, "%.0f", v);
  return text;
}

std::string ms(double v) { return number(v) + " ms"; }

Json to_json(const Measured& m) {
  return {{"set_up_ms", m.set_up},
          {"first_result_ms", m.first_result},
          {"latency_ms", {{"median", m.latency.median}, {"p90", m.latency.p90}, {"min", m.latency.min}}},
          {"runs", m.latency.runs},
          {"runs_per_second", 1000 / m.latency.median},
          {"peak_bytes", m.peak_bytes}};
}

Json to_json(const BenchResult& result, const Options& options) {
  Json json{{"model", options.model}, {"threads", result.threads}, {"ingot", to_json(result.own)}};
  json["work"] = {{"operations", result.work.operations},
                  {"nodes_counted", result.work.counted},
                  {"nodes_unknown", result.work.unknown}};
  if (result.work.operations > 0) {
    json["gflops"] = result.gflops();
    json["peak_gflops"] = result.peak_gflops;
    json["share_of_peak"] = result.gflops() / result.peak_gflops;
  } else {
    json["moved_bytes"] = result.moved_bytes;
    json["gbps"] = result.gbps();
    json["copy_gbps"] = result.copy_gbps;
    json["share_of_peak"] = result.gbps() / result.copy_gbps;
  }
  if (const auto& c = result.ort) {
    json["ort"] = to_json(c->peer);
    json["ort"]["version"] = c->version;
    json["ort"]["base_bytes"] = c->peer_base_bytes;
    json["ratio"] = {
        {"speed", c->speed.median},
        {"low", c->speed.low},
        {"high", c->speed.high},
        {"pairs", c->speed.pairs},
        {"first_result", c->peer.first_result / result.own.first_result},
        {"peak_memory", static_cast<double>(result.own.peak_bytes) / static_cast<double>(c->peer.peak_bytes)}};
    json["results_agree"] = c->difference.empty();
    if (!c->difference.empty()) json["difference"] = c->difference;
  }
  return json;
}

void print(const BenchResult& result, const Options& options) {
  const auto& ort = result.ort;
  Table table(ort ? std::vector<bool>{false, true, true} : std::vector<bool>{false, true});
  const auto row = [&](const char* what, const auto& text_of) {
    std::vector<std::string> cells{what, text_of(result.own)};
    if (ort) cells.push_back(text_of(ort->peer));
    table.add(std::move(cells));
  };
  if (ort) table.add({"", "Ingot", "ONNX Runtime " + ort->version});
  row("set-up", [](const Measured& m) { return ms(m.set_up); });
  row("first result after", [](const Measured& m) { return ms(m.first_result); });
  row("latency, median", [](const Measured& m) { return ms(m.latency.median); });
  row("latency, 90 %", [](const Measured& m) { return ms(m.latency.p90); });
  row("latency, least", [](const Measured& m) { return ms(m.latency.min); });
  row("throughput", [](const Measured& m) { return number(1000 / m.latency.median) + " runs/s"; });
  row("peak memory", [](const Measured& m) { return human_bytes(m.peak_bytes); });
  row("runs", [](const Measured& m) { return grouped(m.latency.runs); });
  std::printf("%s, %d thread%s\n%s", out_style(Style::bold, options.model).c_str(), result.threads,
              result.threads == 1 ? "" : "s", table.str().c_str());
  if (result.work.operations > 0) {
    const std::string rate = number(result.gflops(), 3) + " GFLOP/s, " +
                             number(100 * result.gflops() / result.peak_gflops, 3) + " % of the " +
                             number(result.peak_gflops, 3) + " that multiply-adds alone reach here";
    std::printf("  %s GFLOP in %lld convolutions, matrix products and recurrent layers: %s\n",
                number(result.work.operations / 1e9, 3).c_str(), static_cast<long long>(result.work.counted),
                rate.c_str());
  } else {
    std::printf("  %s go in and come out: %s GB/s, %s %% of the %s that copying reaches here\n",
                human_bytes(static_cast<unsigned long long>(result.moved_bytes)).c_str(),
                number(result.gbps(), 3).c_str(), number(100 * result.gbps() / result.copy_gbps, 3).c_str(),
                number(result.copy_gbps, 3).c_str());
  }
  if (result.work.unknown)
    std::printf("  %lld such nodes are not counted: their shapes, or how often they run, are not known\n",
                static_cast<long long>(result.work.unknown));
  if (!ort) return;
  const bool is_faster = ort->speed.low > 1, is_slower = ort->speed.high < 1;
  const std::string ratio = number(ort->speed.median, 3) + "x";
  std::printf("  %s the speed of ONNX Runtime, between %s and %s with 95 %% confidence (%zu pairs)\n",
              out_style(is_faster   ? Style::green
                        : is_slower ? Style::red
                                    : Style::yellow,
                        ratio)
                  .c_str(),
              number(ort->speed.low, 3).c_str(), number(ort->speed.high, 3).c_str(), ort->speed.pairs);
  std::printf("  %s of its peak memory are Node's, before it loads the model\n",
              human_bytes(ort->peer_base_bytes).c_str());
  if (ort->difference.empty())
    std::printf("  the results agree\n");
  else
    std::printf("  %s %s\n", out_style(Style::red, "the results differ:").c_str(), ort->difference.c_str());
}

int run(const Options& options, const Global& global) {
  measure::BenchRequest request;
  request.model = options.model;
  request.load = global.load_options(options.from);
  request.inputs = options.inputs;
  request.seed = options.seed;
  request.threads = options.threads;
  request.runs = options.runs;
  for (const std::string& text : options.input_shapes) request.input_shapes.push_back(driver::parse_input_shape(text));
  if (!options.peer.empty()) {
    if (global.untrusted)
      throw Error(Code::bad_usage, "other runtimes are off under --untrusted").hint("leave --vs out");
    request.ort = verify::find_peers(options.peers);
    request.ort->time = std::chrono::minutes(10);
    if (const auto missing = verify::why_missing(*request.ort, verify::Runtime::ort))
      throw Error(Code::cannot_open, "ONNX Runtime cannot be measured: " + *missing)
          .hint("script/bootstrap installs it in a source tree");
  }
  const BenchResult result = measure::bench(request);
  if (options.json)
    std::printf("%s\n", to_json(result, options).dump(2).c_str());
  else
    print(result, options);
  return result.ort && !result.ort->difference.empty() ? 1 : 0;
}

}  // namespace

Command add_bench(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("bench", "Measure a model, alone or beside ONNX Runtime");
  app->footer(
      "Inputs that are not given are drawn from --random, as by 'ingot run'. With --vs ort, ONNX Runtime runs the "
      "same\n"
      "file on the same inputs and threads in a process of its own; the two take turns, and what is reported is the\n"
      "median of the ratios of their times with its 95 % interval. Exit code 1: the results differ.\n\n"
      "  ingot bench model.onnx --threads 1\n"
      "  ingot bench model.onnx --vs ort --input-shape x:8,3,224,224 --json");
  app->add_option("MODEL", options->model, "The model file")->required();
  app->add_option("--vs", options->peer, "Compare with this: ort")->one_of({"ort"});
  app->add_option("--peers", options->peers, "The node_modules folder with onnxruntime-node (default: $INGOT_PEERS)");
  app->add_option("--threads", options->threads, "Threads to use (default: all cores)")->positive();
  app->add_option("--in", options->inputs, "NAME=x.npy, NAME=x.pb, x.npz or a directory; may be repeated");
  app->add_option("--random", options->seed, "Draw the inputs that are not given from this seed (default: 1)");
  app->add_option("--input-shape", options->input_shapes, "Fix an input's dimensions: x:1,3,224,224 (? keeps one)");
  app->add_option("--runs", options->runs, "Runs, or pairs of turns, at least (default: 30)")->positive();
  app->add_option("--from", options->from, "The file's format, when it does not tell itself");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
