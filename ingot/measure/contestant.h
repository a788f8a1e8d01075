#pragma once
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/verify/peer.h"
#include "ingot/driver/work_directory.h"

namespace ingot::measure {

/// Another runtime with a model loaded, to be timed; whatever goes wrong there ends the measurement.
class Contestant {
 public:
  /// It runs the file as it is where it reads such files, else what Ingot writes of the model in its own format.
  Contestant(verify::Runtime runtime, const verify::Peers& peers, const std::string& file, const driver::Loaded& loaded,
             const driver::LoadOptions& load, const driver::InputShapes& shapes,
             const std::vector<engine::NamedDatum>& inputs, int threads);

  std::vector<double> run(std::size_t count);

  std::string title, converted_to;  // converted_to: the format's title; empty: it runs the file itself
  verify::PeerAnswer first;         // outputs in the order of the model's
  std::uint64_t peak_bytes = 0;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  std::string file_for(const std::string& file, const driver::Loaded& loaded, const driver::LoadOptions& load,
                       const driver::InputShapes& shapes);
  void use_tfjs_names(verify::PeerRequest& request, const driver::LoadOptions& load);

  verify::Runtime runtime_;
  driver::WorkDirectory scratch_;
  verify::Peer peer_;
};

}  // namespace ingot::measure
