// Elementwise comparisons of two tensors of one type: each row is a prim.
#include "ops/elementwise.h"

namespace thunder {
namespace {

struct Eq { template <class T> bool operator()(T a, T b) { return a == b; } };
struct Ne { template <class T> bool operator()(T a, T b) { return a != b; } };
struct Lt { template <class T> bool operator()(T a, T b) { return a < b; } };
struct Le { template <class T> bool operator()(T a, T b) { return a <= b; } };
struct Gt { template <class T> bool operator()(T a, T b) { return a > b; } };
struct Ge { template <class T> bool operator()(T a, T b) { return a >= b; } };

consteval OpRow comparison(SchemaText schema, std::string_view doc, KernelFn kernel) {
  return primitive(schema, doc, comparison_meta, kernel, nullptr, kElementwise | kCheap,
                   {.nondiff = "the result is boolean"});
}

constexpr OpRow kRows[] = {
    comparison("prims.eq(tensor input, tensor other) -> tensor", "input == other.", comparison_kernel<Eq>),
    comparison("prims.ne(tensor input, tensor other) -> tensor", "input != other.", comparison_kernel<Ne>),
    comparison("prims.lt(tensor input, tensor other) -> tensor", "input < other.", comparison_kernel<Lt>),
    comparison("prims.le(tensor input, tensor other) -> tensor", "input <= other.", comparison_kernel<Le>),
    comparison("prims.gt(tensor input, tensor other) -> tensor", "input > other.", comparison_kernel<Gt>),
    comparison("prims.ge(tensor input, tensor other) -> tensor", "input >= other.", comparison_kernel<Ge>),
};

}  // namespace

extern const OpRows comparison_prims_ops = kRows;

}  // namespace thunder
