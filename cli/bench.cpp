// ingot bench: how fast a model is, alone or beside other runtimes.
#include "ingot/measure/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "command.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/options.h"
#include "terminal.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

using measure::BenchResult;
using measure::Measured;

struct Options {
  std::string model, from, peers;
  std::vector<std::string> beside, inputs, input_shapes;
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
  Json json{{"set_up_ms", m.set_up},
            {"first_result_ms", m.first_result},
            {"latency_ms", {{"median", m.latency.median}, {"p90", m.latency.p90}, {"min", m.latency.min}}},
            {"runs", m.latency.runs},
            {"runs_per_second", 1000 / m.latency.median},
            {"peak_bytes", m.peak_bytes}};
  if (m.cpu > 0) json["cpu_ms"] = m.cpu;
  return json;
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
  json["peers"] = Json::array();
  for (const measure::Comparison& c : result.peers) {
    Json peer = to_json(c.peer);
    peer["version"] = c.version;
    peer["base_bytes"] = c.peer_base_bytes;
    const Json ratio{
        {"speed", c.speed.median},
        {"low", c.speed.low},
        {"high", c.speed.high},
        {"pairs", c.speed.pairs},
        {"first_result", c.peer.first_result / result.own.first_result},
        {"peak_memory", static_cast<double>(result.own.peak_bytes) / static_cast<double>(c.peer.peak_bytes)}};
    const std::string name(verify::info_of(c.runtime).name);
    if (c.runtime == verify::Runtime::ort) {
      json[name] = peer;
      json["ratio"] = ratio;
      json["results_agree"] = c.difference.empty();
      if (!c.difference.empty()) json["difference"] = c.difference;
    }
    peer["name"] = name;
    peer["ratio"] = ratio;
    peer["results_agree"] = c.difference.empty();
    if (!c.difference.empty()) peer["difference"] = c.difference;
    if (!c.converted_to.empty()) peer["converted_to"] = c.converted_to;
    json["peers"].push_back(peer);
  }
  return json;
}

void print_comparison(const measure::Comparison& c) {
  const bool is_faster = c.speed.low > 1, is_slower = c.speed.high < 1;
  const std::string ratio = number(c.speed.median, 3) + "x";
  if (!c.converted_to.empty())
    std::printf("  %s ran the model as %s, converted by Ingot\n", c.title.c_str(), c.converted_to.c_str());
  std::printf("  %s the speed of %s, between %s and %s with 95 %% confidence (%zu pairs)\n",
              out_style(is_faster   ? Style::green
                        : is_slower ? Style::red
                                    : Style::yellow,
                        ratio)
                  .c_str(),
              c.title.c_str(), number(c.speed.low, 3).c_str(), number(c.speed.high, 3).c_str(), c.speed.pairs);
  if (c.peer_base_bytes)
    std::printf("  %s of its peak memory are %s, before it loads the model\n", human_bytes(c.peer_base_bytes).c_str(),
                c.runtime == verify::Runtime::tflite ? "its library's" : "Node's");
  if (c.difference.empty())
    std::printf("  the results agree\n");
  else
    std::printf("  %s %s\n", out_style(Style::red, "the results differ:").c_str(), c.difference.c_str());
}

void print(const BenchResult& result, const Options& options) {
  Table table(std::vector<bool>{false, true, true, true, true, true});
  const auto row = [&](const char* what, const auto& text_of) {
    std::vector<std::string> cells{what, text_of(result.own)};
    for (const measure::Comparison& c : result.peers) cells.push_back(text_of(c.peer));
    table.add(std::move(cells));
  };
  std::vector<std::string> heading{"", "Ingot"};
  for (const measure::Comparison& c : result.peers) heading.push_back(c.title + " " + c.version);
  if (!result.peers.empty()) table.add(heading);
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
  for (const measure::Comparison& c : result.peers) print_comparison(c);
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
  refuse_other_runtimes(global, "--vs", options.beside);
  request.peers = find_peers(global, options.peers);
  request.peers.time = std::min<std::chrono::milliseconds>(std::chrono::minutes(10), global.budget->limits().time);
  for (const std::string& name : options.beside) {
    request.beside.push_back(verify::runtime_by_name(name));
    if (const auto missing = verify::why_missing(request.peers, request.beside.back()))
      throw Error(Code::cannot_open,
                  std::string(verify::info_of(request.beside.back()).title) + " cannot be measured: " + *missing)
          .hint("script/bootstrap installs it in a source tree");
  }
  const BenchResult result = measure::bench(request);
  if (options.json)
    std::printf("%s\n", to_json(result, options).dump(2).c_str());
  else
    print(result, options);
  for (const measure::Comparison& c : result.peers)
    if (!c.difference.empty()) return 1;
  return 0;
}

}  // namespace

Command add_bench(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("bench", "Measure a model, alone or beside other runtimes");
  app->footer(
      "Inputs that are not given are drawn from --random, as by 'ingot run'. With --vs, other runtimes run the same\n"
      "file on the same inputs and threads in processes of their own, or what Ingot converts it to where they do not\n"
      "read it; each takes turns with Ingot, and what is reported is the median of the ratios of their times with its\n"
      "95 % interval. Exit code 1: the results differ.\n\n"
      "  ingot bench model.onnx --threads 1\n"
      "  ingot bench model.tflite --vs tflite,ort\n"
      "  ingot bench model.onnx --vs ort --input-shape x:8,3,224,224 --json");
  app->add_option("MODEL", options->model, "The model file")->required();
  app->add_option("--vs", options->beside, "Compare with these: ort, tflite, tfjs")
      ->delimiter(',')
      ->one_of({"ort", "tflite", "tfjs"});
  app->add_option("--peers", options->peers, "The node_modules folder that holds them (default: $INGOT_PEERS)");
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
