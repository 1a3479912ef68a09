// The in-place form of an op leaves in its first argument what the op returns, eager and compiled.
#include "battery/battery.h"

namespace thunder::battery {
namespace {

struct InPlace : Battery {
  // What the first input holds after a run, or the error.
  static Outcome written(const Outcome& run, const Tensor& input) {
    if (!run.error.empty()) return run;
    return {{input.type()}, {numbers_of(input)}, Code::ok, ""};
  }
  void check(Case c, Layout layout) {
    const Outcome expected = run_eager(*context, c, make_tensors(c, layout));
    const Tensors tensors = make_tensors(c, layout);
    if (!expected.error.empty() || tensors.empty() || expected.types[0] != tensors[0]->type()) return;
    if (!std::holds_alternative<TensorSpec>(c.sample.args[0].value)) return;
    c.in_place = true;
    EXPECT_EQ(difference(written(run_eager(*context, c, tensors), *tensors[0]), expected), "") << c.name << ", eager";
    const Tensors again = make_tensors(c, layout);
    EXPECT_EQ(disagreement(c, written(run_compiled(*context, c, again, 1), *again[0]), expected), "")
        << c.name << ", compiled";
    tally()["in place"]++;
  }
};

TEST_F(InPlace, forms_write_what_the_op_returns) {
  for (auto& op : ops()) {
    if (!op->has(kInplace)) continue;
    for (const Case& c : accepted_cases(*op))
      for (Layout layout : {Layout::dense, Layout::transposed, Layout::offset}) check(c, layout);
  }
}

}  // namespace
}  // namespace thunder::battery
