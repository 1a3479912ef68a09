// The leaky ReLU activation.
#include "ops/formulas.h"
#include "ops/samples.h"

namespace thunder {
namespace {

Results leaky_relu(Call& c) {
  const TensorType type = c.type(0);
  c.require(is_real(type.dtype), "input must be real, got ", name(type));
  Var x = computed(c.var(0));
  return convert(where(c.builder.call("gt", {x, 0.0}), x, x * c.real(1)), type.dtype);
}

constexpr OpRow kLeakyRelu = composite(
    "leaky_relu(tensor input, float negative_slope=0.01) -> tensor", CastPolicy::none,
    "The input where it is positive, else negative_slope times the input.", leaky_relu,
    [](Samples& s) {
      s.add({TensorSpec{{2, 3}}});
      s.add({TensorSpec{{2, 3}}, 0.25});
      s.add({TensorSpec{{4}, DType::bf16}});
      s.refuse({TensorSpec{{2}, DType::i64, -9, 9}}, "real");
    },
    kInplace);

}  // namespace

extern const OpRows leaky_relu_ops = {&kLeakyRelu, 1};

}  // namespace thunder
