#pragma once
#include <string>
#include <vector>

#include "ingot/verify/alignment.h"
#include "ingot/verify/contender.h"
#include "ingot/verify/verify.h"

namespace ingot::verify {

/// The inputs that a model is fed: those without a stored value.
std::vector<const Value*> fed_inputs(const Model& model);

/// For each input or output of one, that of the other: by name, else those that are left in their order.
std::vector<std::size_t> paired(const std::vector<const Value*>& wanted, const std::vector<const Value*>& given);

/// Where an input or output of a side has its channels.
ChannelPlace place_of(const Contender& side, const std::string& name, bool is_moved);
/// A place that one side does not state while the other's was moved is where ONNX has it.
void complete(ChannelPlace& a, ChannelPlace& b, bool is_moved);

/// a's inputs in the form that b takes them; what was done to them becomes notes.
std::vector<engine::NamedDatum> inputs_for_b(const Contender& a, const Contender& b,
                                             const std::vector<engine::NamedDatum>& a_inputs, Verdict& verdict);

}  // namespace ingot::verify
