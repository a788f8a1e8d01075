// What a comparison of two models found.
#include "verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "command.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

using verify::Verdict;

const char* word_of(Verdict::Answer answer) {
  return answer == Verdict::Answer::same ? "same" : answer == Verdict::Answer::different ? "different" : "unknown";
}

/// "31 quantised values inside: 29 within one step, the farthest 'conv5' (CONV_2D), 3 steps for 99.9 % of it"
std::string text_of(const std::vector<verify::LayerSteps>& layers) {
  const auto near = std::ranges::count_if(layers, [](const verify::LayerSteps& l) { return l.steps <= 1; });
  const verify::LayerSteps& worst = *std::ranges::max_element(layers, {}, &verify::LayerSteps::steps);
  std::string text = std::to_string(layers.size()) + " quantised values inside: " + std::to_string(near) +
                     " within one step for 99.9 % of their elements";
  if (worst.steps > 1)
    text += ", the farthest '" + worst.name + "' (" + worst.op + "), " +
            std::to_string(static_cast<std::int64_t>(worst.steps)) + " steps";
  return text;
}

Json number_or_text(const std::string& element) {
  char* end = nullptr;
  const double number = std::strtod(element.c_str(), &end);
  const bool is_number = !element.empty() && end == element.c_str() + element.size() && std::isfinite(number);
  return is_number ? Json(number) : Json(element);
}

}  // namespace

verify::Peers find_peers(const Global& global, const std::string& folder) {
  verify::Peers peers = verify::find_peers(folder);
  if (!global.budget) return peers;
  peers.budget = global.budget;
  peers.memory = global.budget->limits().memory;
  peers.time = std::min(peers.time, global.budget->limits().time);
  return peers;
}

void refuse_other_runtimes(const Global& global, const std::string& option, const std::vector<std::string>& names) {
  if (global.untrusted && std::ranges::any_of(names, [](const std::string& name) { return name != "ingot"; }))
    throw Error(Code::bad_usage, "other runtimes are off under --untrusted").hint("leave " + option + " out");
}

Json to_json(const Verdict& v) {
  Json json{{"answer", word_of(v.answer)}};
  if (!v.why_unknown.empty()) json["why_unknown"] = v.why_unknown;
  json["a_runtime"] = v.a_runtime;
  json["b_runtime"] = v.b_runtime;
  json["independent"] = v.is_independent;
  json["inputs"] = v.inputs;
  json["outputs"] = Json::array();
  for (const verify::OutputVerdict& o : v.outputs) {
    Json output{{"a", o.a_name},           {"b", o.b_name},      {"agrees", o.agrees},
                {"decided", o.is_decided}, {"figure", o.figure}, {"threshold", o.threshold},
                {"source", o.source},      {"worst", o.worst}};
    if (o.distance)
      output.update({{"distance", o.distance->value},
                     {"scale", o.distance->scale},
                     {"elements_that_differ", o.distance->differ},
                     {"elements", o.distance->size}});
    json["outputs"].push_back(std::move(output));
  }
  json["notes"] = v.notes;
  if (const auto& f = v.first)
    json["first_difference"] = {{"name", f->name},
                                {"op", f->op},
                                {"b_name", f->b_name},
                                {"place", f->place},
                                {"a_value", number_or_text(f->a_value)},
                                {"b_value", number_or_text(f->b_value)},
                                {"figure", f->figure},
                                {"threshold", f->threshold},
                                {"source", f->source},
                                {"agreeing_before", f->compared},
                                {"last_agreeing", f->last_agreeing}};
  else if (!v.why_not_bisected.empty())
    json["why_not_bisected"] = v.why_not_bisected;
  json["runs"] = v.runs;
  json["compared_inside"] = v.compared_inside;
  if (!v.layers.empty()) json["layers"] = Json::array();
  for (const verify::LayerSteps& layer : v.layers)
    json["layers"].push_back({{"name", layer.name},
                              {"op", layer.op},
                              {"steps", layer.steps},
                              {"largest", layer.largest},
                              {"share_that_differs", layer.share}});
  json["seconds"] = v.seconds;
  return json;
}

std::string text_of(const Verdict& v, bool is_out) {
  const auto style = [&](Style s, std::string_view text) { return is_out ? out_style(s, text) : err_style(s, text); };
  // What goes with a conversion is a note: of models with dozens of inputs and outputs it tells the first.
  const std::size_t most = is_out ? v.inputs.size() + v.outputs.size() : 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, v.inputs.size()); ++i) text += "  input " + v.inputs[i] + "\n";
  if (v.inputs.size() > most) text += "  and " + std::to_string(v.inputs.size() - most) + " more inputs\n";
  std::size_t agreeing = 0;
  for (const verify::OutputVerdict& o : v.outputs) {
    if (o.agrees && o.is_decided && ++agreeing > most) continue;
    const std::string names = o.b_name.empty() || o.b_name == o.a_name ? o.a_name : o.a_name + " (" + o.b_name + ")";
    text += "  output " + names + " " +
            (!o.agrees      ? style(Style::red, "differs")
             : o.is_decided ? style(Style::green, "agrees")
                            : style(Style::yellow, "is undecided")) +
            ": " + o.figure;
    if (!o.threshold.empty()) text += ", at most " + o.threshold;
    if (!o.source.empty()) text += " (" + o.source + ")";
    text += "\n";
    if (!o.agrees && !o.worst.empty()) text += "    element " + o.worst + "\n";
  }
  if (agreeing > most) text += "  and " + std::to_string(agreeing - most) + " more outputs agree\n";
  if (!v.layers.empty()) text += "  " + text_of(v.layers) + "\n";
  if (v.compared_inside && !v.first && v.answer == Verdict::Answer::same)
    text += "  " + std::to_string(v.compared_inside) +
            (v.compared_inside == 1 ? " value inside was compared too\n" : " values inside were compared too\n");
  for (const std::string& note : v.notes) text += "  " + style(Style::yellow, "note:") + " " + note + "\n";
  if (const auto& f = v.first) {
    text += "  " + style(Style::bold, "they part at '" + f->name + "'") + (f->op.empty() ? "" : " (" + f->op + ")");
    if (f->b_name != f->name) text += ", '" + f->b_name + "' in the other";
    text += "\n    element " + f->place + " is " + f->a_value + ", and " + f->b_value + " in the other: " + f->figure +
            ", at most " + f->threshold + " (" + f->source + ")\n";
    text += "    " + std::to_string(f->compared) +
            (f->compared == 1 ? " value before it agrees" : " values before it agree") +
            (f->last_agreeing.empty() ? "" : ", the last of them '" + f->last_agreeing + "'") + "\n";
  } else if (!v.why_not_bisected.empty()) {
    text += "  where they part is not known: " + v.why_not_bisected + "\n";
  }
  return text;
}

}  // namespace ingot::cli
