// Elementwise arithmetic of two tensors: each row is a prim over equal types and the composite that promotes and
// broadcasts to it.
#include <cmath>

#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

void meta(const Call& c, Types& out) {
  c.require(c.type(0).shape == c.type(1).shape && c.type(0).dtype == c.type(1).dtype, "operands must have one type; ", c.types());
  out.push(c.type(0));
}

template <class F>
Status* arithmetic(const Kernel& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    each2<T, T>(k, [](C a, C b) { return static_cast<T>(F()(a, b)); });
  });
  return nullptr;
}

struct Add { template <class T> T operator()(T a, T b) { return static_cast<T>(a + b); } };
struct Mul { template <class T> T operator()(T a, T b) { return static_cast<T>(a * b); } };
struct Sub { template <class T> T operator()(T a, T b) { return static_cast<T>(a - b); } };

void pairs(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{4, 1, 3}}, TensorSpec{{5, 1}}});
  s.add({TensorSpec{{7}}, 2.5});
  s.add({TensorSpec{{0, 3}}, TensorSpec{{3}}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}}, "broadcast");
}

template <int unused = 0>
Results promote_to(Call& c, std::string_view prim) {
  auto v = promoted(c, {0, 1});
  return c.builder.call(prim, {v[0], v[1]});
}

Results add(Call& c) { return promote_to(c, "prims.add"); }
Results mul(Call& c) { return promote_to(c, "prims.mul"); }
Results sub(Call& c) { return promote_to(c, "prims.sub"); }

constexpr OpRow kRows[] = {
    checked({.schema = "prims.add(tensor input, tensor other) -> tensor", .doc = "input + other, elementwise.", .meta = meta,
             .reference = arithmetic<Add>, .vjp = [](Grad& g) { g.add(0, g.cotangent()); g.add(1, g.cotangent()); },
             .tags = kElementwise}),
    checked({.schema = "prims.sub(tensor input, tensor other) -> tensor", .doc = "input - other, elementwise.", .meta = meta,
             .reference = arithmetic<Sub>, .vjp = [](Grad& g) { g.add(0, g.cotangent()); if (g.wants(1)) g.add(1, -g.cotangent()); },
             .tags = kElementwise}),
    checked({.schema = "prims.mul(tensor input, tensor other) -> tensor", .doc = "input * other, elementwise.", .meta = meta,
             .reference = arithmetic<Mul>,
             .vjp = [](Grad& g) {
               if (g.wants(0)) g.add(0, g.cotangent() * g.var(1));
               if (g.wants(1)) g.add(1, g.cotangent() * g.var(0));
             },
             .tags = kElementwise}),
    checked({.schema = "add(tensor input, tensor other) -> tensor", .doc = "input + other; promotes and broadcasts.",
             .decompose = add, .samples = pairs, .tags = kInplace}),
    checked({.schema = "sub(tensor input, tensor other) -> tensor", .doc = "input - other; promotes and broadcasts.",
             .decompose = sub, .samples = pairs, .tags = kInplace}),
    checked({.schema = "mul(tensor input, tensor other) -> tensor", .doc = "input * other; promotes and broadcasts.",
             .decompose = mul, .samples = pairs, .tags = kInplace}),
};

}  // namespace

void register_binary(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
