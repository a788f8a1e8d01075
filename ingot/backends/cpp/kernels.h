#pragma once
#include <string>

#include "ingot/lower/program.h"

namespace ingot::backends::cpp {

class Printer;
class Support;

std::string print_product(Printer& p, const lower::Product& s, const lower::Program& program, Support& support,
                          int depth);
std::string print_convolution(Printer& p, const lower::Convolution& s, const lower::Program& program, Support& support,
                              int depth);
std::string print_forest(Printer& p, const lower::Forest& s, const lower::Program& program, Support& support,
                         int depth);
std::string print_sort(Printer& p, const lower::Sort& s, const lower::Program& program, Support& support, int depth);

}  // namespace ingot::backends::cpp
