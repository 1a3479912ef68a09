// conv2d, as PyTorch calls it: padding in words, a bias, one image. The product is conv2d_prims.cpp.
#include "ops/formulas.h"
#include "ops/convolved.h"
#include "ops/same_padding.h"
#include "ops/samples.h"

namespace thunder {
namespace {

Results conv2d(Call& c) {
  Var x = c.var(0), w = c.var(1), bias = c.var(2);
  c.require(x.rank() == 3 || x.rank() == 4,
            "input must be [batch, channels, height, width] or [channels, height, width]; ", c.types());
  c.require(w.rank() == 4, "weight must be [out, channels / groups, height, width]; ", c.types());
  c.require(x.dtype() == w.dtype(), "input and weight must have one dtype, got ", name(x.dtype()), " and ",
            name(w.dtype()), "; ", c.types());
  if (bias) {
    const Shape wanted{w.size(0)};
    c.require(bias.shape() == wanted, "bias must have shape ", name(wanted), ", got ", name(bias.shape()), "; ",
              c.types());
    c.require(bias.dtype() == x.dtype(), "bias must have the input's dtype, got ", name(bias.dtype()), " and ",
              name(x.dtype()), "; ", c.types());
  }
  const DType dtype = x.dtype();
  const bool single = x.rank() == 3;
  if (single) x = reshape_to(x, {{1, x.size(0), x.size(1), x.size(2)}});
  if (bias) x = convolved(x), w = convolved(w), bias = convert(bias, x.dtype());
  const Shape padding = padding_of(c, x, w, 2);
  Var y = c.builder.call(Prim::conv2d, {x, w, c.args[3], padding, c.args[5], c.integer(6)});
  if (bias) y = convert(y + along_axis(bias, 1, 4), dtype);
  return single ? reshape_to(y, {{y.size(1), y.size(2), y.size(3)}}) : y;
}

using Pair = std::vector<int64_t>;
void samples(Samples& s) {
  s.add({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 3, 3, 2}}, TensorSpec{{4}}});
  s.add({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}}, SampleArg(), 2, 1});
  s.add({TensorSpec{{1, 4, 7, 8}}, TensorSpec{{6, 2, 3, 2}}, TensorSpec{{6}}, Pair{2, 3}, Pair{1, 2}, Pair{2, 1}, 2});
  s.add({TensorSpec{{2, 4, 5, 5}}, TensorSpec{{4, 1, 3, 3}}, SampleArg(), 1, 1, 1, 4});
  s.add({TensorSpec{{3, 6, 5}}, TensorSpec{{4, 3, 1, 1}}, TensorSpec{{4}}});
  s.add({TensorSpec{{2, 3, 6, 5}, DType::bf16}, TensorSpec{{4, 3, 3, 2}, DType::bf16}, TensorSpec{{4}, DType::bf16}});
  s.add({TensorSpec{{0, 3, 6, 5}}, TensorSpec{{4, 3, 3, 2}}});
  s.add({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 3, 3, 2}}, TensorSpec{{4}}, 1, "same", Pair{1, 3}});
  s.add({TensorSpec{{3, 6, 5}}, TensorSpec{{4, 3, 3, 5}}, SampleArg(), 1, "same"});
  s.add({TensorSpec{{1, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}}, SampleArg(), 2, "valid"});
  s.refuse({TensorSpec{{1, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}}, SampleArg(), 2, "same"},
           "padding='same' keeps the sizes, which needs stride 1; got [2]");
  s.refuse({TensorSpec{{1, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}}, SampleArg(), 1, "full"},
           "padding must be numbers, 'same' or 'valid', got 'full'");
  s.refuse({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 2, 3, 3}}}, "input has 3 channels, weight takes 2");
  s.refuse({TensorSpec{{2, 3, 2, 2}}, TensorSpec{{4, 3, 3, 3}}}, "reaches over 3 pixels, the padded input has 2");
  s.refuse({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}}, TensorSpec{{3}}}, "bias must have shape [4], got [3]");
  s.refuse({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}, DType::f64}}, "got f32 and f64");
  s.refuse({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}}, SampleArg(), 0}, "stride must be between 1");
  s.refuse({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}}, SampleArg(), Pair{1, 1, 1}},
           "one or two values, got [1, 1, 1]");
  s.refuse({TensorSpec{{2, 3, 6, 5}}, TensorSpec{{4, 3, 3, 3}}, SampleArg(), 1, 0, 1, 2}, "groups 2 must divide");
  s.refuse({TensorSpec{{6, 5}}, TensorSpec{{4, 3, 3, 3}}}, "input must be");
}

constexpr OpRow kRows[] = {
    composite("conv2d(tensor input, tensor weight, tensor? bias=None, int[] stride=[1, 1], "
              "int[]|str padding=[0, 0], int[] dilation=[1, 1], int groups=1) -> tensor",
              CastPolicy::lower_precision_fp,
              "Two-dimensional cross-correlation of [n, c, h, w] or [c, h, w] with weight [out, c / groups, "
              "kh, kw]; one number stands for both dims. padding 'same' keeps the sizes, 'valid' is none.",
              conv2d, samples),
};

}  // namespace

extern const OpRows conv2d_ops = kRows;

}  // namespace thunder
