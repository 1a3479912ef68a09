// The matrix product that every other contraction descends to.
#include "base/text.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// [..., m, k] x [..., k, n] with equal leading dims.
void matmul_meta(const Call& c, Types& out) {
  const TensorType &a = c.type(0), &b = c.type(1);
  const size_t r = a.rank();
  c.require(r >= 2 && b.rank() == r, "operands must have one rank of at least 2; ", c.types());
  c.require(a.dtype == b.dtype, "operands must have one dtype; ", c.types());
  c.require(a.shape[r - 1] == b.shape[r - 2], "inner dimensions differ: got ", name(a.shape[r - 1]), " and ", name(b.shape[r - 2]), "; ", c.types());
  for (size_t i = 0; i + 2 < r; i++) c.require(a.shape[i] == b.shape[i], "batch dimensions differ; ", c.types());
  TensorType t = a;
  t.shape[r - 1] = b.shape[r - 1];
  out.push(t);
}
template <class T>
void matmul_one(const Buffer& a, const Buffer& b, const Buffer& c, const T* pa, const T* pb, T* pc, std::vector<Compute<T>>& row) {
  const size_t r = static_cast<size_t>(a.rank);
  const int64_t m = a.shape[r - 2], kk = a.shape[r - 1], n = b.shape[r - 1];
  const int64_t am = a.strides[r - 2], ak = a.strides[r - 1], bk = b.strides[r - 2], bn = b.strides[r - 1];
  using A = Compute<T>;
  for (int64_t i = 0; i < m; i++) {
    std::fill(row.begin(), row.end(), A(0));
    for (int64_t k = 0; k < kk; k++) {
      const A x = static_cast<A>(pa[i * am + k * ak]);
      const T* q = pb + k * bk;
      if (bn == 1)
        for (int64_t j = 0; j < n; j++) row[static_cast<size_t>(j)] += x * static_cast<A>(q[j]);
      else
        for (int64_t j = 0; j < n; j++) row[static_cast<size_t>(j)] += x * static_cast<A>(q[j * bn]);
    }
    for (int64_t j = 0; j < n; j++) pc[i * c.strides[r - 2] + j * c.strides[r - 1]] = static_cast<T>(row[static_cast<size_t>(j)]);
  }
}
Status* matmul_kernel(const Kernel& k) {
  const Buffer &a = k.in[0], &b = k.in[1], &c = k.out[0];
  by_dtype(c.dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (!std::is_same_v<T, bool>) {
      const size_t r = static_cast<size_t>(a.rank);
      std::vector<Compute<T>> row(static_cast<size_t>(c.shape[r - 1]));
      int64_t batch = 1;
      for (size_t i = 0; i + 2 < r; i++) batch *= a.shape[i];
      for (int64_t x = 0; x < batch; x++) {
        int64_t rest = x, oa = 0, ob = 0, oc = 0;
        for (size_t i = r - 2; i-- > 0; rest /= a.shape[i]) {
          const int64_t at = rest % a.shape[i];
          oa += at * a.strides[i], ob += at * b.strides[i], oc += at * c.strides[i];
        }
        matmul_one<T>(a, b, c, a.as<T>() + oa, b.as<T>() + ob, c.as<T>() + oc, row);
      }
    }
  });
  return nullptr;
}
Var swap_last(Var x) {
  Shape order;
  for (size_t i = 0; i < x.rank(); i++) order.push_back(static_cast<int64_t>(i));
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  return permute_to(x, order);
}

constexpr OpRow kRows[] = {
    checked({.schema = "prims.matmul(tensor input, tensor other) -> tensor", .doc = "Batched matrix product of equal leading dims.",
             .meta = matmul_meta, .reference = matmul_kernel,
             .vjp = [](Grad& g) {
               if (g.wants(0)) g.add(0, g.builder.call("prims.matmul", {g.cotangent(), swap_last(g.var(1))}));
               if (g.wants(1)) g.add(1, g.builder.call("prims.matmul", {swap_last(g.var(0)), g.cotangent()}));
             },
             .tags = kMatmul}),
};

}  // namespace

void register_matmul_prim(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
