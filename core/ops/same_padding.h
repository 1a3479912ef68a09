// A convolution's padding by name: "valid" is no padding, "same" keeps the sizes.
#pragma once

#include "base/checked.h"
#include "ir/prim.h"
#include "ops/builder.h"

namespace thunder {

// The parameter `padding` of a convolution of `dims` dims as numbers; parameters: input, weight, bias, stride, padding,
// dilation. Where "same" needs one element more behind than in front, x gets it here.
inline Shape padding_of(const Call& c, Var& x, Var w, size_t dims) {
  if (c.args[4].kind != ArgKind::string) return Shape(c.dims(4));
  const std::string_view how = c.text(4);
  c.require(how == "same" || how == "valid", "padding must be numbers, 'same' or 'valid', got '", how, "'");
  Shape front(dims, 0);
  if (how == "valid") return front;
  for (Dim stride : c.dims(3))
    c.require(stride == Dim(1), "padding='same' keeps the sizes, which needs stride 1; got ", name(c.dims(3)));
  auto dilation = c.dims(5);
  c.require(dilation.size() == 1 || dilation.size() == dims, "dilation must have one value or ", dims, ", got ",
            name(dilation));
  Shape none(x.rank(), 0), behind(x.rank(), 0);
  bool more = false;
  for (size_t i = 0; i < dims; i++) {
    const Dim kernel = w.shape()[w.rank() - dims + i];
    const int64_t whole =
        checked_mul(hint(dilation[dilation.size() == 1 ? 0 : i]), std::max<int64_t>(0, hint(kernel) - 1));
    front[i] = whole / 2, behind[x.rank() - dims + i] = whole % 2;
    more = more || whole % 2;
  }
  if (more) x = c.builder.call(Prim::pad, {x, none, behind, 0.0});
  return front;
}

}  // namespace thunder
