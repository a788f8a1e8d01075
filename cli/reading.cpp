// What a command can be told of a file that does not say it itself.
#include "reading.h"

namespace ingot::cli {

driver::LoadOptions Reading::load_options(const Global& global) const {
  driver::LoadOptions load = global.load_options(from);
  load.import.signature = signature;
  load.import.tag = tag;
  load.import.weights_from = weights_from;
  load.import.data = data;
  load.import.schema = schema;
  return load;
}

void add_reading(App& app, Reading& reading) {
  app.add_option("--signature", reading.signature, "Which of the source's signatures");
  app.add_option("--tag", reading.tag, "Which of a SavedModel's graphs (default: serve)");
  app.add_option("--weights-from", reading.weights_from, "The file with the weights, if the source has none");
  app.add_option("--data", reading.data, "A sample of the frame that a pandas program works on: rows.csv");
  app.add_option("--schema", reading.schema, "Its columns: age:int,price:float,name:text,is_new:bool");
  app.add_option("--from", reading.from, "The file's format, when it does not tell itself");
}

}  // namespace ingot::cli
