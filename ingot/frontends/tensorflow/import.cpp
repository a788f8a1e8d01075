// The way in.
#include "ingot/frontends/tensorflow/import.h"

#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {

ImportResult import_graph(const tf::GraphDef& graph, const ImportOptions& options, const ModelFiles& files) {
  return Translation(graph, options, files).run();
}

}  // namespace ingot::frontends::tensorflow
