// Compares what each step computes with the reference, and looks for the first NaN.
#pragma once

#include <string>
#include <vector>

#include "jit/reports/reference.h"
#include "program/watch.h"

namespace thunder {

// What a step did that it should not have.
struct Difference {
  std::string op, executor, where;  // the op and the user's line that are to blame
  std::string what;                 // "element 3 is 1, not 2"
};

class ReferenceWatch : public StepWatch {
 public:
  // `tolerance`: relative to the largest number that a step rounds, of float32; that of other types follows from it.
  explicit ReferenceWatch(Context& context, double tolerance = 1e-4) : context_(context), tolerance_(tolerance) {}

  void before(const Program& program, size_t at, const Launch& launch) override;
  void after(const Program& program, size_t at, const Launch& launch) override;

  std::vector<Difference> wrong;  // steps whose results differ from the reference's on the same operands
  std::vector<Difference> nans;   // lines that make NaN of operands without one
  size_t checked = 0, unchecked = 0;  // steps; what runs on a device, or in the launch of another step, is not checked

 private:
  void compare(const Program& program, const Node& node, const Buffer* outputs,
               const std::vector<Reference::Line>& lines, const Reference::Known& known);
  void find_nans(const Program& program, const std::vector<Reference::Line>& lines, Reference::Known& known);

  Context& context_;
  const double tolerance_;
  Reference::Known known_;  // the operands of the step that runs, as they were before
};

}  // namespace thunder
