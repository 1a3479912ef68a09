#include "modules/world_grads.h"

#include <map>

#include "base/text.h"
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

void reduce(Builder& b, const Bucket& bucket, std::vector<ValueId>& grads, std::string_view axis,
            std::string_view reduction) {
  const auto over_ranks = [&](Var x) { return b.call("all_reduce", {x, axis, reduction}); };
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

Values* grad_over_ranks(Scope& scope, Tensor* loss, const Values& wrt, std::string_view axis,
                        std::string_view reduction) {
  Values* grads = scope.grad(loss, wrt);
  if (scope.status()) return grads;
  auto out = make<Values>(*grads);
  scope.run_formulas([&] {
    Builder& b = scope.builder();
    require(reduction == "mean" || reduction == "sum", "grad: reduction must be 'mean' or 'sum', got '", reduction,
            "'");
    const int64_t ranks = ranks_along(b.registry(), axis);
    if (ranks == 1) return;
    std::vector<ValueId> common;
    std::vector<size_t> leaves;
    for (size_t i = 0; i < wrt.size(); i++) {
      if (!wrt[i].tensor || !wrt[i].tensor->concrete()) continue;
      const ValueId grad = scope.enter((*grads)[i].tensor.get());
      if (const auto& shard = wrt[i].tensor->sharding(); !shard || shard->axis != axis) {
        common.push_back(grad), leaves.push_back(i);
      } else if (reduction == "mean") {  // the sum was made with its gather's gradient
        out->set_tensor(i, Ref<Tensor>(scope.wrap((b.var(grad) / static_cast<double>(ranks)).id)));
      }
    }
    for (const Bucket& bucket : buckets_of(b, wrt, common, leaves)) reduce(b, bucket, common, axis, reduction);
    for (size_t k = 0; k < leaves.size(); k++) out->set_tensor(leaves[k], Ref<Tensor>(scope.wrap(common[k])));
  });
  return scope.own(std::move(out));
}

}  // namespace thunder
