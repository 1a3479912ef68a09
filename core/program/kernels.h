// The kernels of a trace's nodes while its memory is planned, until its steps own them.
#pragma once

#include <string_view>
#include <unordered_map>

#include "program/kernel.h"

namespace thunder {

// A view needs a kernel only where planning finds that its result cannot lie over its operand. Implemented by the
// executors, which must outlive the program.
class ViewKernels {
 public:
  virtual ~ViewKernels() = default;
  // Whether the kernel will take strided inputs, whichever executor makes it.
  virtual bool takes_strided(const Node& view) const = 0;
  // Throws.
  virtual KernelPtr prepare(const Node& view, const Store& store) const = 0;
};

class Kernels {
 public:
  explicit Kernels(std::shared_ptr<const ViewKernels> views) : views_(std::move(views)) {}
  const std::shared_ptr<const ViewKernels>& views() const { return views_; }
  void add(const Node& node, KernelPtr kernel) { of_[&node] = std::move(kernel); }
  // Hands over a node's kernel, once. Throws.
  KernelPtr take_kernel(const Node& node, const Store& store);

  // Questions of the plan about kernels. Views have no flags.
  bool has(const Node& node, KernelFlag flag) const;
  bool takes_strided(const Node& node) const;
  bool orders_result(const Node& node, size_t number) const;
  MemoryFormat memory_format(const Node& node) const;
  // Whether a result may have the memory of an input that it replaces element by element.
  bool can_run_in_place(const Node& node) const;
  // All that a plan may ask of a node's kernel, as one number.
  uint64_t answers(const Node& node) const;
  // Answers questions about a line with symbols by the kernel of the node that has numbers in their place.
  void add_line(const Node& line, const Node& node) { nodes_[&line] = &node; }

 private:
  const Kernel* find(const Node& node) const;

  std::shared_ptr<const ViewKernels> views_;  // outlives the kernels, and has what they need
  std::unordered_map<const Node*, KernelPtr> of_;
  std::unordered_map<const Node*, const Node*> nodes_;  // of lines with symbols
};

// Throws what an executor threw while it made a node ready to run: running out of memory, declines and exceptions of
// other languages as they are, all else with its name, the op and the user's line.
[[noreturn]] void fail_to_prepare(std::string_view executor, const Node& node, const Error& why);

}  // namespace thunder
