#pragma once

namespace ingot::measure {

/// Bytes per second, read and written together, at which this machine copies memory that no cache holds, on so many
/// threads, in units of 10^9: the best of several trials.
double measure_copy_peak(int threads);

}  // namespace ingot::measure
