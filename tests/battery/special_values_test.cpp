// NaN, infinities and the ends of the range through elementwise ops: eager, compiled and oracle agree.
#include <algorithm>
#include <cmath>
#include <limits>

#include "battery/battery.h"

namespace thunder::battery {
namespace {

const double kInf = std::numeric_limits<double>::infinity();
const std::vector<double> kSpecial = {std::nan(""), kInf, -kInf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e30, -1e30, 1e-30};

struct SpecialValues : Battery {
  void check(std::string_view op, const Sample& sample, const Tensors& tensors) {
    if (const auto all = ops(); std::find(all.begin(), all.end(), &context->registry().get(op)) == all.end()) return;
    Case c{&context->registry().get(op), sample, std::string(op), ""};
    const Outcome eager = run_eager(*context, c, tensors);
    EXPECT_EQ(difference(eager, find_oracle(op)(oracle_arguments(c, tensors))), "") << op;
    EXPECT_EQ(difference(run_compiled(*context, c, tensors, 1), eager), "") << op << ", compiled";
    tally()["with special values"]++;
  }
};

TEST_F(SpecialValues, pass_functions_of_one_tensor_as_they_should) {
  const auto n = static_cast<int64_t>(kSpecial.size());
  for (const OracleRow& row : unary_oracles())
    for (DType dtype : {DType::f32, DType::f64})
      check(row.op, {{TensorSpec{{n}, dtype}}, false}, {tensor_of({n}, dtype, kSpecial)});
}

TEST_F(SpecialValues, pass_functions_of_two_tensors_as_they_should) {
  const auto n = static_cast<int64_t>(kSpecial.size());
  for (const OracleRow& row : binary_oracles())
    for (DType dtype : {DType::f32, DType::f64})
      check(row.op, {{TensorSpec{{n, 1}, dtype}, TensorSpec{{n}, dtype}}, false},
            {tensor_of({n, 1}, dtype, kSpecial), tensor_of({n}, dtype, kSpecial)});
}

}  // namespace
}  // namespace thunder::battery
