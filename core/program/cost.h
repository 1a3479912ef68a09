// A lower bound on a step's work: operations, and bytes read and written.
#pragma once

#include "program/program.h"

namespace thunder {

// Floating-point operations of a node: of products, convolutions and what is made of them two for each multiply-add;
// of elementwise lines one an element; of reductions one an element that is reduced; what moves elements none. Of a
// node with a body those of its lines. Factorisations count as elementwise, and so too little.
double flops_of(const Node& node, const Store& store);

// The ops that people know it by: of a region those of its lines.
std::string ops_of(const Node& node);

// The bytes of its operands and results; memory that is read several times, or repeats along a dim, counts once.
// A gather counts the whole tensor that it reads from.
double bytes_of(const Plan& plan, const Step& step);

// The sums over all steps of a program.
struct Cost {
  double flops = 0, bytes = 0;
  uint64_t peak_bytes = 0, result_bytes = 0;
  size_t steps = 0;
};
Cost cost_of(const Program& program);
std::string cost_json(const Program& program);

}  // namespace thunder
