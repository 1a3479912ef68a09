// Inputs that do not lie dense in memory give what dense copies of them give.
#include "battery/battery.h"

namespace thunder::battery {
namespace {

struct Layouts : Battery, testing::WithParamInterface<std::pair<const char*, Layout>> {};

TEST_P(Layouts, do_not_change_results) {
  each_case("strided", [&](const Case& c) {
    // Its contract is to refuse where the strides would need a copy.
    if (c.op->name() == "view") return false;
    const Tensors tensors = make_tensors(c, GetParam().second);
    Tensors dense;
    for (auto& t : tensors) dense.push_back(dense_copy(*t));
    const Outcome expected = run_eager(*context, c, dense);
    EXPECT_EQ(difference(run_eager(*context, c, tensors), expected), "") << c.name << ", eager";
    const size_t n = std::max<size_t>(1, expected.types.size());
    EXPECT_EQ(disagreement(c, run_compiled(*context, c, tensors, n), expected), "") << c.name << ", compiled";
    return true;
  });
}
INSTANTIATE_TEST_SUITE_P(All, Layouts,
                         testing::Values(std::pair("transposed", Layout::transposed), std::pair("offset", Layout::offset),
                                         std::pair("expanded", Layout::expanded)),
                         [](auto& info) { return std::string(info.param.first); });

}  // namespace
}  // namespace thunder::battery
