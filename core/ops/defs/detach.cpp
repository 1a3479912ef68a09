// Ops that stop gradients: detach, and writes through what it gives; and zero, whose result no longer depends on the
// input.
#include "ops/elementwise.h"

namespace thunder {
namespace {

// Of what is written through a detached view gradients know nothing: they are those of what was there before.
ValueId write_through_detach(Call& c, ValueId base, ValueId written) {
  return c.builder.call(Prim::set_data, {c.builder.var(base), c.builder.var(written)}).id;
}

void set_data_meta(const Call& c, Types& out) {
  c.require(c.type(0) == c.type(1), "input and data must be of one type; ", c.types());
  out.push(c.type(0));
}

Results detach(Call& c) { return c.builder.call(Prim::detach, {c.var(0)}); }

void sample_detaches(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}}});
  s.add_without_gradient({TensorSpec{{}, DType::f64}});
  s.add_without_gradient({TensorSpec{{0, 3}}});
  s.add({TensorSpec{{5}, DType::i64, -9, 9}});
}

constexpr std::string_view kStops = "it stops gradients";

constexpr OpRow kRows[] = {
    checked({.schema = "prims.detach(tensor input) -> tensor",
             .doc = "A view that gradients do not pass.",
             .meta = same_meta,
             .reference = copy_dense,
             .nondiff = kStops,
             .view = {same_view, same_view},
             .write_through = write_through_detach,
             .tags = kElementwise}),
    checked({.schema = "prims.set_data(tensor input, tensor data) -> tensor",
             .doc = "The elements of data; gradients pass to input, as if they were its own.",
             .meta = set_data_meta,
             .reference =
                 [](const KernelArgs& k) -> Status* {
                   copy_strided(k.in[1], k.out[0]);
                   return nullptr;
                 },
             .vjp = [](Grad& g) { g.add(0, g.cotangent()); },
             .samples =
                 [](Samples& s) {
                   s.add_without_gradient({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}});
                   s.refuse({TensorSpec{{2, 3}}, TensorSpec{{3}}}, "one type");
                 },
             .tags = kElementwise}),
    composite("detach(tensor input) -> tensor", CastPolicy::none, "A view of the input that gradients do not pass.",
              detach, sample_detaches, kView, {.nondiff = kStops}),
    composite("stop_gradient(tensor input) -> tensor", CastPolicy::none,
              "detach, under the name that other frameworks give it.", detach, sample_detaches, kView,
              {.nondiff = kStops}),
    composite(
        "zero(tensor input) -> tensor", CastPolicy::none, "Zeros of input's size and dtype; zero_ stores them.",
        [](Call& c) -> Results {
          const TensorType t = c.type(0);
          return full(c.builder, t.shape, 0, t.dtype, t.device);
        },
        sample_detaches, kInplace),
};

}  // namespace

extern const OpRows detach_ops = kRows;

}  // namespace thunder
