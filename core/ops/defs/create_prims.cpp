// Tensors made from nothing, and other element types: full, iota, convert.
#include "ir/dim_reads.h"
#include "ops/convert_elements.h"
#include "ops/elementwise.h"

namespace thunder {
namespace {

void full_meta(const Call& c, Types& out) {
  c.require(is_number(c.args[1]), "value must be a plain number, got ", kind_of(c.args[1]));
  TensorType t;
  t.dtype = c.dtype(2);
  t.device = c.device(3);
  for (Dim d : c.dims(0))
    c.require(!d.constant() || d.value() >= 0, "a size must not be negative, got ", name(c.dims(0)));
  t.shape = Shape(c.dims(0));
  out.push(t);
}
Status* full_kernel(const KernelArgs& k) {
  fill_elements(k.out[0], k.args[1]);
  return nullptr;
}

void iota_meta(const Call& c, Types& out) {
  c.require(c.dims(0).size() == 1 && is_at_most(0, c.dims(0)[0]),
            "length must be one number that is not negative, got ", name(c.dims(0)));
  TensorType t;
  t.dtype = c.dtype(1);
  t.device = c.device(2);
  c.require(t.dtype != DType::boolean, "a range of booleans is not defined");
  t.shape = Shape(c.dims(0));
  out.push(t);
}
Status* iota_kernel(const KernelArgs& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    each0<T>(k, [](int64_t i) { return static_cast<T>(static_cast<Compute<T>>(i)); });
  });
  return nullptr;
}

void convert_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  t.dtype = c.dtype(1);
  t.weak = false;
  out.push(t);
}
Status* convert_kernel(const KernelArgs& k) {
  convert_elements(k.in[0], k.out[0]);
  return nullptr;
}

constexpr OpRow kRows[] = {
    primitive("prims.full(int[] shape, tensor|number value, dtype dtype, device device) -> tensor",
              "A tensor filled with one plain number, which is rounded once.", full_meta, full_kernel, nullptr,
              kAnyElement, {.nondiff = "it has no tensor argument"}),
    primitive("prims.iota(int[] length, dtype dtype, device device) -> tensor", "0, 1, 2 ... length - 1.", iota_meta,
              iota_kernel, nullptr, 0, {.nondiff = "it has no tensor argument"}),
    primitive(
        "prims.convert(tensor input, dtype dtype) -> tensor",
        "Another element type; reals to integers truncate and saturate.", convert_meta, convert_kernel,
        [](Grad& g) { g.add(0, convert(g.cotangent(), g.type(0).dtype)); }, kElementwise | kCheap | kAnyElement),
};

}  // namespace

extern const OpRows create_prims_ops = kRows;

}  // namespace thunder
