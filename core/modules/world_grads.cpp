#include "modules/world_grads.h"

#include <map>

#include "base/text.h"
#include "ir/prim.h"
#include "ops/world_collectives.h"

namespace thunder {
namespace {

// A collective costs some time however small it is; one of many gradients joins them by a copy. PyTorch's DDP has the
// same size.
constexpr int64_t kBucketBytes = int64_t{25} << 20;

struct Bucket {
  std::vector<size_t> leaves;
  int64_t bytes = 0;
};

// The axis along which the ranks have parts of a leaf; "": all have the whole.
std::string_view axis_of_parts(const Leaf& leaf) {
  const auto& shard = leaf.tensor->sharding();
  return shard ? std::string_view(shard->axis) : "";
}

// The leaves in the order in which a backward makes them, the last first, in buckets of one dtype, of wholes or of
// parts along one axis.
std::vector<Bucket> buckets_of(Builder& b, const Values& wrt, const std::vector<ValueId>& grads,
                               const std::vector<size_t>& leaves) {
  std::vector<Bucket> full;
  std::map<std::pair<DType, std::string_view>, Bucket> open;
  for (size_t k = leaves.size(); k-- > 0;) {
    const TensorType& type = b.type(grads[k]);
    int64_t bytes = static_cast<int64_t>(size_of(type.dtype));
    for (Dim d : type.shape) bytes *= hint(d);
    if (bytes >= kBucketBytes) {  // without a copy
      full.push_back({{k}, bytes});
      continue;
    }
    Bucket& bucket = open[{type.dtype, axis_of_parts(wrt[leaves[k]])}];
    bucket.leaves.push_back(k), bucket.bytes += bytes;
    if (bucket.bytes >= kBucketBytes) full.push_back(std::exchange(bucket, {}));
  }
  for (auto& [kind, bucket] : open)
    if (!bucket.leaves.empty()) full.push_back(std::move(bucket));
  return full;
}

// The reduction of one dim of elements that travel in `how.dtype`: each rank adds up a part of them, and has the sums
// of the others then, which is what an all_reduce moves.
Var reduce_in_dtype(Var x, const GradReduction& how, int64_t ranks) {
  Builder& b = *x.builder;
  const DType dtype = x.dtype();
  const int64_t size = hint(x.shape()[0]), part = (size + ranks - 1) / ranks;
  x = convert(x, how.dtype);
  if (part * ranks != size) x = b.call("pad", {x, Shape{0, Dim(part * ranks - size)}});
  x = b.call(Prim::all_to_all, {x, how.axis, ranks});
  x = convert(x, compute_dtype(how.dtype));
  std::vector<Var> rows;
  for (int64_t r = 0; r < ranks; r++) rows.push_back(b.call("slice", {x, 0, r * part, (r + 1) * part}));
  for (size_t apart = 1; apart < rows.size(); apart *= 2)
    for (size_t r = 0; r + apart < rows.size(); r += 2 * apart) rows[r] = rows[r] + rows[r + apart];
  x = how.reduction == "mean" ? rows[0] / static_cast<double>(ranks) : rows[0];
  x = b.call(Prim::all_gather, {convert(x, how.dtype), how.axis, ranks, false});
  if (part * ranks != size) x = b.call("slice", {x, 0, 0, size});
  return convert(x, dtype);
}

void reduce(Builder& b, const Bucket& bucket, std::vector<ValueId>& grads, const GradReduction& how, int64_t ranks) {
  const auto over_ranks = [&](Var x) -> Var {
    if (how.dtype == DType::none) return b.call("all_reduce", {x, how.axis, how.reduction});
    return reshape_to(reduce_in_dtype(b.call("reshape", {x, Shape{-1}}), how, ranks), Shape(x.shape()));
  };
  if (bucket.leaves.size() == 1) {
    ValueId& only = grads[bucket.leaves[0]];
    only = over_ranks(b.var(only)).id;
    return;
  }
  ValueList flat;
  for (size_t k : bucket.leaves) flat.push_back(b.call("reshape", {b.var(grads[k]), Shape{-1}}).id);
  Var all = over_ranks(b.call("cat", {flat, 0}));
  int64_t at = 0;
  for (size_t i = 0; i < bucket.leaves.size(); i++) {
    ValueId& grad = grads[bucket.leaves[i]];
    const int64_t end = at + hint(b.type(flat[i]).shape[0]);
    grad = reshape_to(b.call("slice", {all, 0, at, end}), Shape(b.type(grad).shape)).id;
    at = end;
  }
}

}  // namespace

Values* reduce_gradients(Scope& scope, const Values& grads, const Values& wrt, const GradReduction& how) {
  auto out = make<Values>(grads);
  scope.run_formulas([&] {
    Builder& b = scope.builder();
    require(how.reduction == "mean" || how.reduction == "sum", "grad: reduction must be 'mean' or 'sum', got '",
            how.reduction, "'");
    require(how.dtype == DType::none || (is_real(how.dtype) && how.dtype != DType::f64),
            "grad: reduce_dtype must be float32, bfloat16 or float16, got ", name(how.dtype));
    require(grads.size() == wrt.size(), "grad: there are ", grads.size(), " gradients by ", wrt.size(), " tensors");
    const int64_t ranks = ranks_along(b.registry(), how.axis);
    if (ranks == 1) return;
    std::vector<ValueId> common;
    std::vector<size_t> leaves;
    for (size_t i = 0; i < wrt.size(); i++) {
      if (!wrt[i].tensor || !wrt[i].tensor->concrete() || !grads[i].tensor) continue;
      const ValueId grad = scope.enter(grads[i].tensor.get());
      if (const auto& shard = wrt[i].tensor->sharding(); !shard || shard->axis != how.axis) {
        common.push_back(grad), leaves.push_back(i);
      } else if (how.reduction == "mean") {  // the sum was made with its gather's gradient
        out->set_tensor(i, Ref<Tensor>(scope.wrap((b.var(grad) / static_cast<double>(ranks)).id)));
      }
    }
    for (const Bucket& bucket : buckets_of(b, wrt, common, leaves)) reduce(b, bucket, common, how, ranks);
    for (size_t k = 0; k < leaves.size(); k++) out->set_tensor(leaves[k], Ref<Tensor>(scope.wrap(common[k])));
  });
  return scope.own(std::move(out));
}

Values* grad_over_ranks(Scope& scope, Tensor* loss, const Values& wrt, std::string_view axis,
                        std::string_view reduction) {
  Values* grads = scope.grad(loss, wrt);
  return scope.status() ? grads : reduce_gradients(scope, *grads, wrt, {axis, reduction});
}

}  // namespace thunder
