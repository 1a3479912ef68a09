// Lines of a trace computed one by one by the reference: what their results should be.
#pragma once

#include <unordered_map>
#include <vector>

#include "jit/context/context.h"

namespace thunder {

class Reference {
 public:
  using Known = std::unordered_map<ValueId, Ref<Tensor>>;
  // A line that was computed, and its results.
  struct Line {
    const Node* node;
    std::vector<Ref<Tensor>> results;
  };

  Reference(Context& context, const Store& store) : context_(context), store_(store) {}

  // Computes a node of the trace, or the lines of its body where no kernel has it as a whole. `known` has its operands,
  // dense and on the CPU, and gets the results. Gives the lines in order. Throws what a line reports.
  std::vector<Line> run(const Node& node, Known& known);

 private:
  void run(const Node& node, Known& known, std::vector<Line>& lines);
  void run_line(const Node& node, Known& known, std::vector<Line>& lines);

  Context& context_;
  const Store& store_;
};

// The elements as doubles, whatever their type.
std::vector<double> as_doubles(const Tensor& t);

}  // namespace thunder
