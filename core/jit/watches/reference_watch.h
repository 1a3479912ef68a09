// Compares what each step computes with the reference, and looks for the first NaN or infinity.
#pragma once

#include <string>
#include <vector>

#include "jit/watches/reference.h"
#include "program/watch.h"
#include "tracer/compile_settings.h"

namespace thunder {

// A finding: a result of a step that is wrong or suspicious.
struct Difference {
  std::string op, executor, where;  // the op and the user's line that are to blame
  std::string what;                 // "element 3 is 1, not 2"
};

// In the user's terms: the op as written that the line is a part of. `executor` may be null.
Difference difference_at(const Program& program, const Node& line, const char* executor, std::string what);
// How far results of float32 may be apart, relative to the largest number that is rounded.
inline double tolerance_of(const CompileSettings& settings) {
  return settings.float32_matmul_precision == Precision::highest ? 1e-4 : 3e-2;
}

class ReferenceWatch : public StepWatch {
 public:
  // What to check. Without `values` the reference computes only steps that made a NaN or an infinity.
  struct Checks {
    bool values = true, nan = true, inf = false;
  };
  // `tolerance`: relative to the largest number that a step rounds, of float32; that of other types follows from it.
  ReferenceWatch(Context& context, Checks checks, double tolerance)
      : context_(context), checks_(checks), tolerance_(tolerance) {}

  void before(const Program& program, size_t at, const Launch& launch) override;
  void after(const Program& program, size_t at, const Launch& launch) override;

  std::vector<Difference> wrong;  // steps whose results differ from the reference's on the same operands
  std::vector<Difference> nans;   // lines that make NaN, or infinity, of operands without one
  size_t checked = 0, unchecked = 0;  // steps; what runs on a device, or in the launch of another step, is not checked

 private:
  void compare(const Program& program, const Node& node, const Buffer* outputs,
               const std::vector<Reference::Line>& lines, const Reference::Known& known);
  void find_nans(const Program& program, const std::vector<Reference::Line>& lines, Reference::Known& known);
  // Which suspicious number the tensor has: "NaN", "infinity"; "": none.
  std::string_view find_suspicious(const Tensor& t) const;
  bool has_suspicious(const Buffer* made, size_t count) const;

  Context& context_;
  const Checks checks_;
  const double tolerance_;
  Reference::Known known_;  // the operands of the step that runs, as they were before
};

}  // namespace thunder
