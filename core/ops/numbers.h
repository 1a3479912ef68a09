// Plain numbers beside tensors. A number keeps all its bits until it is converted once, to the type in which the op
// computes; as in PyTorch it promotes by its category alone.
#pragma once

#include "ops/builder.h"

namespace thunder {

// Whether a plain integer that the operand's dtype cannot hold is refused, or wraps around like the result.
enum class Overflow : uint8_t { refused, wraps };

// Whether an argument is a plain number, known or live.
bool is_plain_number(const Call& c, size_t param);
// The dtype that an argument has, were a number a tensor.
DType dtype_of(const Call& c, size_t param);

// Throws, with both, unless the dtype holds the number: an integer, a finite real, and of a real that becomes an
// integer the whole part. As in PyTorch unsigned types take negative integers, which wrap around, as far down as they
// go up. `what` is the parameter's name.
void require_fits(const Call& c, std::string_view what, const Arg& number, DType dtype);

// A plain number as prims.full takes it: a float, unless it is an integer that no f64 holds, or beyond 2^62, where
// floats that become integers are rounded to the ends of i64.
Arg exact_number(const Arg& number);
// A tensor filled with a plain number, which the dtype rounds once.
Var full(Builder& b, std::span<const Dim> shape, const Arg& number, DType dtype, Device device = Device::cpu);

// An argument, a number or a tensor, as a tensor of this dtype, without another one on its way there.
Var in_dtype(const Call& c, size_t param, DType dtype);
// The same for an argument that is stored unchanged: a plain number must fit.
Var convert_checked(const Call& c, size_t param, DType dtype);
// A plain number that formulas store in, or compare with, elements of this dtype: a whole one for integers.
Arg number_in(const Call& c, size_t param, DType dtype);

// Operands that are promoted and broadcast to one type, in which the op computes. That type is f32 if a plain number,
// or a wider tensor of rank 0, is combined with narrower reals that cannot hold it. The result is then rounded to
// `dtype`, once.
struct ComputedOperands {
  Operands v;
  DType dtype = DType::none;
  Var live;  // one of the operands where all are plain numbers, some of them live: the result is a number, too
};
ComputedOperands computed_operands(const Call& c, std::initializer_list<size_t> params, bool to_real_dtype = false,
                           Overflow overflow = Overflow::refused);
Var rounded(const ComputedOperands& operands, Var result);
// Applies a prim to two such operands, and rounds the result.
Var computed_by(Call& c, std::string_view prim, bool to_real_dtype = false, Overflow overflow = Overflow::refused);

}  // namespace thunder
