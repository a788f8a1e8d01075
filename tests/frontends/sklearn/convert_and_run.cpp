#include <cstdio>
#include <string>
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/load.h"
#include "ingot/formats/boosting/json.h"
#include "ingot/formats/boosting/model.h"
#include "ingot/formats/boosting/svm.h"
#include "ingot/formats/pickle/describe.h"
#include "ingot/formats/pickle/joblib.h"
#include "ingot/frontends/boosting/import.h"
#include "ingot/frontends/sklearn/import.h"
#include "ingot/ir/model.h"
using namespace ingot;
std::string run_model(const std::string& onnx, const std::string& npz, const std::string& out);
int main(int n, char** v) {
  for (int i = 1; i + 1 < n; i += 2) {
    const std::string base = v[i + 1];
    try {
      const Bytes file = map_file(v[i]);
      const std::string_view t = file.text();
      Model model;
      std::vector<std::string> notes;
      if (formats::pickle::looks_like_pickle(file) || formats::pickle::looks_compressed(file)) {
        auto doc = formats::pickle::read(formats::pickle::decompressed(file));
        auto im = frontends::sklearn::import_model(doc);
        model = std::move(im.model); notes = im.notes;
      } else if (t.starts_with("tree\n")) {
        auto im = frontends::boosting::import_model(formats::boosting::read_lightgbm(t));
        model = std::move(im.model);
      } else if (t.find("features_info") != std::string_view::npos) {
        auto im = frontends::boosting::import_model(formats::boosting::read_catboost(formats::boosting::parse_json(t)));
        model = std::move(im.model);
      } else {
        auto m = formats::boosting::read_xgboost(file);
        m.best_rounds = 0;
        auto im = frontends::boosting::import_model(m);
        model = std::move(im.model);
      }
      driver::SaveOptions o;
      driver::save(model, base + ".onnx", o);
      const std::string why = run_model(base + ".onnx", base + "_in.npz", base + "_got");
      std::printf("%s %s %s\n", why.empty() ? "OK" : "RUN", v[i], why.c_str());
    } catch (const Error& e) {
      std::printf("NO %s: %s\n", v[i], e.what());
    }
    std::fflush(stdout);
  }
}
