// Linear and Bilinear.
#include <cmath>

#include "base/text.h"
#include "modules/inputs.h"
#include "modules/tensor_parallel.h"

namespace thunder {
namespace {

void linear_init(ModuleInit& m) {
  const int64_t in = m.module.integer("in_features"), out = m.module.integer("out_features");
  m.require(in >= 0 && out >= 0, "in_features and out_features must not be negative, got ", in, " and ", out);
  const double bound = in > 0 ? 1 / std::sqrt(static_cast<double>(in)) : 0;
  m.uniform("weight", {out, in}, bound);
  if (m.module.flag("bias")) m.uniform("bias", {out}, bound);
}
// Of which each rank multiplies some features of the input; all of them have the sum.
void rowwise_linear(ModuleCall& c, const Sharding& how) {
  Tensor* const own = c.op("linear", {c.input(), c.tensor("weight"), static_cast<Tensor*>(nullptr)});
  Tensor* const sum = c.op("all_reduce", {own, std::string_view(how.axis), std::string_view("sum")});
  Tensor* const bias = c.tensor("bias");
  c.give(bias ? c.op("add", {sum, c.op("type_as", {bias, sum})}) : sum);
}
void linear(ModuleCall& c) {
  const Sharding* const how = tensor_parallel(c.module, "weight");
  if (how && how->dim == 1) return rowwise_linear(c, *how);
  c.give(c.op("linear", {c.input(), c.tensor("weight"), c.tensor("bias")}));
}

void bilinear_init(ModuleInit& m) {
  const int64_t first = m.module.integer("in1_features"), second = m.module.integer("in2_features"),
                out = m.module.integer("out_features");
  m.require(first > 0 && second >= 0 && out >= 0, "in1_features must be positive, the others not negative, got ", first,
            ", ", second, " and ", out);
  const double bound = 1 / std::sqrt(static_cast<double>(first));
  m.uniform("weight", {out, first, second}, bound);
  if (m.module.flag("bias")) m.uniform("bias", {out}, bound);
}

constexpr ModuleRow kRows[] = {
    layer("Linear(int in_features, int out_features, bool bias=True) -> tensor",
          "input @ weight.T + bias; weight is [out_features, in_features].", linear, linear_init),
    layer_of_op(
        "Bilinear(int in1_features, int in2_features, int out_features, bool bias=True) -> tensor",
        "input1 @ weight[k] @ input2 + bias[k] for each k; weight is [out_features, in1_features, in2_features].",
        "bilinear", bilinear_init, "forward(tensor input1, tensor input2) -> tensor"),
};

}  // namespace

extern const ModuleRows linear_kinds = kRows;

}  // namespace thunder
