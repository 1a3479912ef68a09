// Compiled calls against eager ones.
#include "battery/battery.h"

namespace thunder::battery {
namespace {

TEST_F(Battery, compiled_calls_agree_with_eager_ones) {
  each_case("compiled", [&](const Case& c) {
    const Tensors tensors = make_tensors(c);
    const Outcome eager = run_eager(*context, c, tensors);
    const Outcome compiled = run_compiled(*context, c, tensors, eager.types.size());
    EXPECT_EQ(needs_values(c, compiled), c.sample.eager) << c.name << ": " << compiled.error;
    EXPECT_EQ(disagreement(c, compiled, eager), "") << c.name;
    return true;
  });
}

TEST_F(Battery, no_optional_pass_is_needed_for_right_results) {
  size_t number = 0;
  each_case("with a pass off", [&](const Case& c) {
    if (number++ % 3 || c.sample.eager) return false;
    const Tensors tensors = make_tensors(c);
    const Outcome eager = run_eager(*context, c, tensors);
    for (const std::string& pass : optional_passes())
      EXPECT_EQ(difference(run_compiled(*context, c, tensors, eager.types.size(), pass), eager), "") << c.name << " without " << pass;
    return true;
  });
}

}  // namespace
}  // namespace thunder::battery
