#pragma once

namespace ingot::measure {

/// Float multiply-adds per second, times two, that this machine reaches on so many threads, in units of 10^9: the best
/// of several short trials of a loop that does nothing else.
double measure_fma_peak(int threads);

}  // namespace ingot::measure
