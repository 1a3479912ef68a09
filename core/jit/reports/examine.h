// A function examined for some inputs: what it is made of, what stands in its way, and whether its values are right.
#pragma once

#include <string>
#include <vector>

#include "jit/call.h"
#include "program/cost.h"

namespace thunder {

struct ExaminedOp {
  std::string op;         // as written
  size_t times = 0;
  std::string executors;  // that run what became of it, "fusion, products"
  std::string where;      // the first of the user's lines that has it
};

struct Remark {
  // unsupported: the function cannot be compiled. wrong: a kernel differs from the reference. nan: a line makes one.
  // gradient: what blocks one. slow: a hint. fusion: neighbours that are kernels of their own.
  std::string kind;
  std::string op, where, text;  // "": not known
};

struct Examination {
  std::string function;
  std::vector<ExaminedOp> ops;
  std::vector<Remark> remarks;  // the gravest first
  Cost cost;                      // of a call
  size_t checked = 0, unchecked = 0;  // steps that were compared with the reference, and that could not be
  bool gradients = false;         // whether gradients were checked, too

  bool sound() const;  // nothing is unsupported, wrong or NaN
  std::string text() const;
  std::string json() const;
};

// Compiles it, then calls it once with each step compared to the reference, and where its first result is a loss does
// the same with its gradients. What a call does, these do. Of a function that cannot be compiled the remark says why.
Examination examine(Compiled& compiled, const Values& in);

}  // namespace thunder
