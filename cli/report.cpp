// ingot report and ingot view: models as pages.
#include <spawn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/byte_size.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/summary.h"
#include "ingot/pages/local_server.h"
#include "ingot/pages/model_page.h"
#include "ingot/verify/verify.h"
#include "terminal.h"
#include "training_log.h"
#include "verdict.h"

extern char** environ;

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> models, input_shapes;
  std::string output, training, peers, from, signature, tag;
  bool verifies = false, no_statistics = false, no_browser = false, json = false;
};

driver::LoadOptions load_options(const Options& options, const Global& global) {
  driver::LoadOptions load = global.load_options(options.from);
  load.import.signature = options.signature;
  load.import.tag = options.tag;
  return load;
}

/// How the model does in its own runtime beside Ingot; that it does not run is an answer too.
Json verification_of(const std::string& model, const driver::InputShapes& shapes, const Options& options,
                     const Global& global) {
  verify::VerifyRequest request;
  request.a.file = request.b.file = model;
  request.a.load = request.b.load = load_options(options, global);
  request.b.runtimes = {verify::Runtime::ingot};
  request.peers = find_peers(global, options.peers);
  request.input_shapes = shapes;
  if (global.untrusted) request.a.runtimes = {verify::Runtime::ingot};
  try {
    return to_json(verify::verify(request));
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;
    return {{"answer", "none"}, {"why", error.message() + " [" + code_name(error.code()) + "]"}};
  }
}

/// The page of a model, and its line in the list of all.
struct Made {
  pages::Page page;
  std::vector<std::string> cells;  // markup: format, nodes, parameters and, where it was asked for, verified
};

/// Of several models each takes the sizes of its own inputs; a name that none has is a slip.
class GivenShapes {
 public:
  explicit GivenShapes(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) shapes_.push_back(driver::parse_input_shape(text));
  }
  driver::InputShapes of(const driver::Summary& summary) {
    driver::InputShapes own;
    for (const auto& shape : shapes_)
      if (std::ranges::find(summary.inputs, shape.first, &driver::Summary::Port::name) != summary.inputs.end()) {
        own.push_back(shape);
        used_.insert(shape.first);
      }
    return own;
  }
  void refuse_unused() const {
    for (const auto& shape : shapes_)
      if (!used_.contains(shape.first))
        throw Error(Code::unknown_name, "--input-shape: there is no input '" + shape.first + "'")
            .hint("'ingot inspect' lists the inputs");
  }

 private:
  driver::InputShapes shapes_;
  std::set<std::string> used_;
};

Made page_of(const std::string& model, const Options& options, GivenShapes& shapes, const Global& global) {
  driver::LoadOptions load = load_options(options, global);
  load.requires_valid = false;  // broken models are looked at too
  load.allow_missing_data = true;
  const driver::Loaded loaded = driver::load(model, load);
  pages::ModelPageOptions page;
  page.title = fs::path(model).filename().string();
  if (page.title.empty()) page.title = fs::path(model).parent_path().filename().string();
  page.format = loaded.format->title;
  page.notes = loaded.notes;
  page.contents = driver::describe(model, load);
  page.has_statistics = !options.no_statistics;
  const driver::Summary summary = driver::summarise(loaded.model);
  page.input_shapes = shapes.of(summary);
  if (!options.training.empty()) page.curves_svg = curves_of_log(options.training);
  if (options.verifies) page.verification = verification_of(model, page.input_shapes, options, global);
  const std::string answer = options.verifies ? std::string(page.verification["answer"].text()) : "";
  Made made{pages::model_page(loaded.model, page),
            {pages::escaped(page.format), grouped(summary.nodes), grouped(summary.parameter_elements),
             human_bytes(summary.parameter_bytes)}};
  if (options.verifies)
    made.cells.push_back("<span class=" + answer + ">" + (answer == "none" ? "not verified" : answer) + "</span>");
  return made;
}

void write(const fs::path& path, const std::string& html) {
  AtomicFile file(path.string());
  file.write(html);
  file.commit();
}

/// "resnet.onnx" -> "resnet.onnx.html"; models of the same name in different folders get a number.
std::string file_name(const std::string& model, std::set<std::string>& taken) {
  std::string stem = fs::path(model).filename().string();
  if (stem.empty()) stem = fs::path(model).parent_path().filename().string();
  std::string name = stem + ".html";
  for (int number = 2; !taken.insert(name).second; ++number) name = stem + "-" + std::to_string(number) + ".html";
  return name;
}

int report(const Options& options, const Global& global) {
  std::error_code failed;
  fs::create_directories(options.output, failed);
  if (failed) throw Error(Code::cannot_write, "the folder cannot be made: " + failed.message()).in_file(options.output);
  std::set<std::string> taken{"index.html"};
  std::vector<std::string> heads{"model", "file", "format", "nodes", "parameters", "bytes"};
  if (options.verifies) heads.push_back("verified");
  std::string rows;
  Json written = Json::array();
  GivenShapes shapes(options.input_shapes);
  int code = 0;
  for (const std::string& model : options.models) {
    try {
      const Made made = page_of(model, options, shapes, global);
      if (options.models.size() == 1) shapes.refuse_unused();
      const std::string name = file_name(model, taken);
      write(fs::path(options.output) / name, pages::to_html(made.page));
      std::vector<std::string> cells{pages::link(name, made.page.title), pages::code(model)};
      cells.insert(cells.end(), made.cells.begin(), made.cells.end());
      rows += pages::row(cells);
      written.push_back({{"model", model}, {"file", (fs::path(options.output) / name).string()}});
      if (!global.quiet) std::fprintf(stderr, "wrote %s\n", (fs::path(options.output) / name).c_str());
    } catch (const Error& error) {
      if (options.models.size() == 1 || error.exit_code() == 5) throw;
      rows += "<tr><td class=failed>not shown</td><td>" + pages::code(model) +
              "</td><td colspan=" + std::to_string(heads.size() - 2) + ">" + pages::escaped(error.what()) +
              "</td></tr>\n";
      std::fprintf(stderr, "%s %s\n", err_style(Style::red, "error:").c_str(), error.what());
      written.push_back({{"model", model}, {"code", code_name(error.code())}, {"problem", error.what()}});
      code = error.exit_code();
    }
  }
  pages::Page index{"Models", {}};
  index.sections.push_back(
      {"models", "Models",
       "<table class=sortable>\n<thead>" + pages::row(heads, "th") + "</thead>\n" + rows + "</table>\n"});
  write(fs::path(options.output) / "index.html", pages::to_html(index));
  if (options.json) std::printf("%s\n", Json{{"pages", written}}.dump(2).c_str());
  if (code == 0) shapes.refuse_unused();
  return code;
}

/// Asks the desktop to open the address; without a desktop, the user does.
void open_browser(const std::string& address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  std::string program = "xdg-open", argument = address;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ);
}

int view(const Options& options, const Global& global) {
  if (options.models.size() > 1)
    throw Error(Code::bad_usage, "view shows one model").hint("'ingot report' writes pages of several");
  GivenShapes shapes(options.input_shapes);
  const Made made = page_of(options.models.front(), options, shapes, global);
  shapes.refuse_unused();
  pages::LocalServer server(pages::to_html(made.page));
  std::printf("%s\n", server.address().c_str());
  std::fflush(stdout);
  if (!global.quiet) std::fprintf(stderr, "open this address in a browser; Ctrl-C ends\n");
  if (!options.no_browser) open_browser(server.address());
  server.serve();
  return 0;
}

void add_common(App& app, Options& options) {
  app.add_option("--input-shape", options.input_shapes, "Sizes for what layers cost: x:1,3,224,224");
  app.add_flag("--verify", options.verifies,
               "Run the model in its own runtime and in Ingot, and show how they compare");
  app.add_option("--training", options.training, "The log of a training run ('train --log'), to show its curves");
  app.add_flag("--no-statistics", options.no_statistics, "Do not read the weights: no statistics, no histograms");
  app.add_option("--peers", options.peers, "The folder with npm's node_modules (default: $INGOT_PEERS)");
  app.add_option("--signature", options.signature, "Which of the source's signatures to show");
  app.add_option("--tag", options.tag, "Which of a SavedModel's graphs to show (default: serve)");
  app.add_option("--from", options.from, "The file's format, when it does not tell itself");
}

}  // namespace

Command add_report(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("report", "A page per model to look at and send on: graph, layers, weights, facts");
  app->footer(
      "Each page is one file that needs no other and no network; models of any format are shown as the ONNX that they "
      "become,\nwith the source's nodes beside. Names from models are shown, never executed.\n\n"
      "  ingot report model.onnx -o site\n"
      "  ingot report *.tflite -o site --verify");
  app->add_option("MODEL", options->models, "Models of any format")->required();
  app->add_option("-o,--output", options->output, "The folder to write to")->required();
  add_common(*app, *options);
  app->add_flag("--json", options->json, "For programs: which pages were written");
  return {app, [options, &global] { return report(*options, global); }};
}

Command add_view(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("view", "Look at a model in the browser");
  app->footer(
      "Serves the page of 'ingot report' on 127.0.0.1, under an address that only this program prints, until "
      "Ctrl-C.\n\n"
      "  ingot view model.onnx");
  app->add_option("MODEL", options->models, "The model")->required();
  app->add_flag("--no-browser", options->no_browser, "Only print the address");
  add_common(*app, *options);
  return {app, [options, &global] { return view(*options, global); }};
}

}  // namespace ingot::cli
