// Nodes whose inputs are known while tracing, computed there and then: the arithmetic of shapes leaves no line. Each
// function is the `host` of a row: false where it is left to ops.
#pragma once

#include "onnx/node.h"

namespace thunder::onnx {

// Whether each input is there and known, and as many as this at least.
bool all_known(Node& n, size_t least = 1);
// How many elements a shape has; -1: more than are kept on the host.
int64_t host_elements(const Sizes& shape);
// The elements of `from` at these places.
HostRef gather_elements(const Host& from, const Sizes& shape, std::span<const int64_t> places);
// The values of a list, if all are known; false if it has formulas, or is no list.
bool known_list(const Host* h, std::vector<int64_t>& out);
// The number wrapped around to the range of the dtype.
Dim wrap_to_dtype(Dim value, DType dtype);
double round_to_dtype(double value, DType dtype);

// Compares by the sizes seen while tracing; if a side is symbolic, the result is guarded.
bool decide_equal(Node& n, Dim a, Dim b);
bool decide_less(Node& n, Dim a, Dim b);
bool decide_at_most(Node& n, Dim a, Dim b);

// elementwise.cpp
bool host_add(Node& n);
bool host_sub(Node& n);
bool host_mul(Node& n);
bool host_div(Node& n);
bool host_mod(Node& n);
bool host_pow(Node& n);
bool host_min(Node& n);
bool host_max(Node& n);
bool host_equal(Node& n);
bool host_less(Node& n);
bool host_less_or_equal(Node& n);
bool host_greater(Node& n);
bool host_greater_or_equal(Node& n);
bool host_and(Node& n);
bool host_or(Node& n);
bool host_not(Node& n);
bool host_neg(Node& n);
bool host_abs(Node& n);
bool host_sqrt(Node& n);
bool host_reciprocal(Node& n);
bool host_floor(Node& n);
bool host_ceil(Node& n);
bool host_cast(Node& n);
bool host_where(Node& n);

// places.cpp
bool host_gather(Node& n);
bool host_slice(Node& n);
bool host_transpose(Node& n);
bool host_expand(Node& n);
bool host_tile(Node& n);
bool host_split(Node& n);
bool host_constant_of_shape(Node& n);

// lists.cpp
bool host_identity(Node& n);
bool host_concat(Node& n);
bool host_reshape(Node& n);
bool host_flatten(Node& n);
bool host_squeeze(Node& n);
bool host_unsqueeze(Node& n);
bool host_range(Node& n);
bool host_reduce_sum(Node& n);
bool host_reduce_prod(Node& n);

}  // namespace thunder::onnx
