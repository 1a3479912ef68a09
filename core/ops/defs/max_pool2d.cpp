// max_pool2d, as PyTorch calls it: a stride that may be left out, one image, with indices or without.
#include "ops/formulas.h"
#include "ops/samples.h"

namespace thunder {
namespace {

struct Pooled {
  Var values, indices;
};
Pooled pool_values_and_indices(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() == 3 || x.rank() == 4,
            "input must be [batch, channels, height, width] or [channels, height, width], got ", name(x.type()));
  const bool single = x.rank() == 3;
  if (single) x = reshape_to(x, {{1, x.size(0), x.size(1), x.size(2)}});
  const bool own_stride = c.has(2) && !c.dims(2).empty();
  Results r = c.builder.results(Prim::max_pool2d,
                                {x, c.args[1], c.args[own_stride ? 2 : 1], c.args[3], c.args[4], c.flag(5)});
  Pooled p{c.builder.var(r[0]), c.builder.var(r[1])};
  if (!single) return p;
  const Shape shape{p.values.size(1), p.values.size(2), p.values.size(3)};
  return {reshape_to(p.values, shape), reshape_to(p.indices, shape)};
}
Results max_pool2d(Call& c) { return pool_values_and_indices(c).values; }
Results max_pool2d_with_indices(Call& c) {
  const Pooled p = pool_values_and_indices(c);
  return {p.values.id, p.indices.id};
}

using Pair = std::vector<int64_t>;
void sample_max_pool2d(Samples& s) {
  s.add({TensorSpec{{2, 3, 6, 6}}, 2});
  s.add({TensorSpec{{1, 2, 7, 5}}, Pair{3, 2}, Pair{2, 1}, Pair{1, 0}});
  s.add({TensorSpec{{2, 7, 7}}, 3, 2, 1, 2, true});
  s.add({TensorSpec{{1, 1, 5, 5}}, 2, SampleArg(), 0, 1, true});
  s.add({TensorSpec{{1, 2, 4, 4}, DType::bf16}, 2});
  s.add_without_gradient({TensorSpec{{1, 2, 4, 4}, DType::i64, -9, 9}, 2});
  s.refuse({TensorSpec{{2, 3, 6, 6}}, 3, 1, 2}, "padding must be at most half of kernel_size, got 2 and 3");
  s.refuse({TensorSpec{{2, 3, 2, 6}}, 3}, "reaches over 3 pixels, the padded input has 2");
  s.refuse({TensorSpec{{6, 6}}, 2}, "input must be");
  s.refuse({TensorSpec{{2, 3, 6, 6}}, 2, 0}, "stride must be between 1");
  s.refuse({TensorSpec{{2, 3, 6, 6}}, Pair{2, 2, 2}}, "one or two values, got [2, 2, 2]");
}

constexpr OpRow kRows[] = {
    composite("max_pool2d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0, 0], int[] "
              "dilation=[1, 1], bool ceil_mode=False) -> tensor",
              CastPolicy::none, "The largest pixel of each window; stride is kernel_size unless given. NaN wins.",
              max_pool2d, sample_max_pool2d, 0, {.variant = {"return_indices", "max_pool2d_with_indices"}}),
    composite("max_pool2d_with_indices(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0, "
              "0], int[] dilation=[1, 1], bool ceil_mode=False) -> (tensor, tensor)",
              CastPolicy::none, "max_pool2d, and where in its plane each result was.", max_pool2d_with_indices,
              sample_max_pool2d),
};

}  // namespace

extern const OpRows max_pool2d_ops = kRows;

}  // namespace thunder
