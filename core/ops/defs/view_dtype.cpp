// The same bits read as another dtype, tensor.view(dtype): a view where elements are of one size, else a copy.
#include <algorithm>

#include "base/text.h"
#include "ir/prim.h"
#include "ops/batch.h"
#include "ops/builder.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

int64_t element_bytes(DType dtype) { return static_cast<int64_t>(size_of(dtype)); }

void view_dtype_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  const DType to = c.dtype(1);
  const int64_t from = element_bytes(t.dtype), wanted = element_bytes(to);
  c.require(to != DType::boolean || t.dtype == DType::boolean, "bits are no bool: compare with 0 instead");
  if (from != wanted) {
    c.require(t.rank() > 0, "a tensor without dims keeps the size of its element: ", name(t.dtype), " has ", from,
              " bytes, ", name(to), " ", wanted);
    Dim& last = t.shape[t.rank() - 1];
    const int64_t bytes = hint(last) * from;
    c.require(bytes % wanted == 0, "the last dim of ", name(t), " has ", bytes, " bytes, no multiple of the ", wanted,
              " of ", name(to));
    last = from > wanted ? last * Dim(from / wanted) : Dim(bytes / wanted);
  }
  t.dtype = to;
  t.weak = false;
  out.push(t);
}

template <class Size>
bool same_places(std::span<const Size> sizes, std::span<const Arg>, std::span<const Size> to, ViewAt<Size>&) {
  return std::equal(sizes.begin(), sizes.end(), to.begin(), to.end(), [](Size a, Size b) { return is_equal(a, b); });
}

ValueId write_bits(Call& c, ValueId, ValueId written) {
  return c.builder.call(Prim::view_dtype, {c.builder.var(written), c.type(0).dtype}).id;
}

void samples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, DType::i32});
  s.add({TensorSpec{{}, DType::i64, -9, 9}, DType::f64});
  s.add({TensorSpec{{4}, DType::f16}, DType::i16});
  s.add({TensorSpec{{2, 3}}, DType::u8});
  s.add({TensorSpec{{2, 4}, DType::i32, -9, 9}, DType::i64});
  s.refuse({TensorSpec{{2, 3}}, DType::f64}, "no multiple");
  s.refuse({TensorSpec{{}}, DType::i8}, "without dims");
  s.refuse({TensorSpec{{4}, DType::u8}, DType::boolean}, "compare with 0");
}

constexpr std::string_view kBits = "it reads bits";

constexpr OpRow kRows[] = {
    checked({.schema = "prims.view_dtype(tensor input, dtype dtype) -> tensor",
             .doc = "The same bits as elements of another dtype.",
             .meta = view_dtype_meta,
             .reference = copy_in_order,
             .nondiff = kBits,
             .batch =
                 [](Batch& b) {
                   return b.invoke_same_op({b.operand(0), b.dtype(1)});
                 },
             .view = {same_places, same_places},
             .write_through = write_bits}),
    composite("view_dtype(tensor input, dtype dtype) -> tensor", CastPolicy::none,
              "The same bits as elements of another dtype: view(dtype). Elements of another size change the last "
              "dim, and are copied.",
              [](Call& c) -> Results {
                return c.builder.call(Prim::view_dtype, {c.var(0), c.dtype(1)});
              },
              samples, kMayView, {.nondiff = kBits}),
};

}  // namespace

extern const OpRows view_dtype_ops = kRows;

}  // namespace thunder
