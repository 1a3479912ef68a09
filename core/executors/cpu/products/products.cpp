#include "executors/cpu/products/products.h"

#include "executors/cpu/isa/kernels.h"
#include "executors/cpu/products/grouped_kernel.h"
#include "executors/cpu/products/matmul_kernel.h"
#include "executors/cpu/products/pointwise.h"
#include "ir/shape.h"

namespace thunder {
namespace {

// The state of the executor.
struct Products {
  Backends backends;
  std::optional<Autotuner> tuner;
};

bool is_grouped(const NodeView& view) {
  return view.node.op->id == GroupedMatmulKernel<float>::kOp;
}

bool is_weight_grad(const NodeView& view) {
  return view.node.op->id == PointwiseWeightGrad::kOp;
}

// The row of a convolution; null: the op is a product.
template <class T>
const PointwiseRow<T>* find_pointwise_row(const Node& node) {
  const auto& rows = kPointwiseRows<T>;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.op == node.op->name(); });
  return found == rows.end() ? nullptr : &*found;
}

bool claim(const NodeView& view, void* user) {
  if (is_grouped(view)) {  // the ends of its groups are integers
    const TensorType& type = view.store.type(view.node.results[0]);
    return is_cpu_tensor_of(type, DType::f32) || is_cpu_tensor_of(type, DType::bf16) ||
           is_cpu_tensor_of(type, DType::f16);
  }
  // The gradient of a weight is summed over images, which 16 bits would round one by one.
  if (is_weight_grad(view)) return all_tensors_are<DType::f32>(view, user) && PointwiseWeightGrad::claims(view);
  const PointwiseRow<float>* convolution = find_pointwise_row<float>(view.node);
  if (convolution && !is_pointwise(view.node, concrete(view.store.type(view.node.args[1].v).shape), convolution->first))
    return false;
  return all_tensors_are<DType::f32>(view, user) || all_tensors_are<DType::bf16>(view, user) ||
         all_tensors_are<DType::f16>(view, user);
}

GemmSize size_of_pointwise(const NodeView& view) {
  const auto sizes = [&](ValueId v) { return concrete(view.store.type(v).shape); };
  const Sizes y = sizes(view.node.results[0]);
  const int64_t pixels = y[2] * y[3], depth = sizes(view.node.args[0].v)[1];
  return pixels == 1 ? GemmSize{y[0], y[1], depth} : GemmSize{y[1], pixels, depth};
}

template <class T, class K = MatmulKernel<T>, class... Options>
KernelPtr make_kernel(const NodeView& view, const Backends& backends, Options... options) {
  const Precision precision = view.settings.float32_matmul_precision;
  if (const PointwiseRow<T>* convolution = find_pointwise_row<T>(view.node)) {
    const ProductOp<T> op{backends, precision, convolution->products, nullptr};
    return std::make_unique<K>(op, op.rows_that_fit(size_of_pointwise(view)), options...);
  }
  const ProductRow<T>& row = find_row(kProductRows<T>, view);
  const ProductOp<T> op{backends, precision, row.products, row.size};
  const auto sizes = [&](size_t arg) { return concrete(view.store.type(view.node.args[arg].v).shape); };
  auto kernel = std::make_unique<K>(op, op.rows_that_fit(row.size(sizes(0), sizes(1))), options...);
  kernel->add_flags(kRunsEpilogue);  // whose tiles are rows of the result's last dim
  return kernel;
}

template <class T>
KernelPtr grouped_kernel(const NodeView& view, const Backends& backends) {
  const Precision precision = view.settings.float32_matmul_precision;
  return std::make_unique<GroupedMatmulKernel<T>>(
      backends, rows_for(algorithms<T>(), backends, precision, GroupedMatmulKernel<T>::typical_gemm_size(view)));
}

KernelPtr prepare(const NodeView& view, void* user) {
  auto& [backends, tuner] = *static_cast<Products*>(user);
  const bool timed = tuner && view.settings.max_autotune;
  const DType d = view.store.type(view.node.results[0]).dtype;
  if (is_grouped(view))
    return d == DType::f16    ? grouped_kernel<f16>(view, backends)
           : d == DType::bf16 ? grouped_kernel<Bf16>(view, backends)
                              : grouped_kernel<float>(view, backends);
  if (is_weight_grad(view))
    return std::make_unique<PointwiseWeightGrad>(
        backends, rows_for(algorithms<float>(), backends, view.settings.float32_matmul_precision,
                           PointwiseWeightGrad::typical_gemm_size(view)));
  return d == DType::f16    ? make_kernel<f16>(view, backends)
         : d == DType::bf16 ? make_kernel<Bf16>(view, backends)
                            : make_kernel<float, F32MatmulKernel>(view, backends, timed ? &*tuner : nullptr);
}

}  // namespace

std::optional<ExecutorDesc> products_executor(const Machine& machine, const Tuning& tuning, std::string& report,
                                              std::span<const char* const> library_names) {
  const Library* library = Library::open(library_names, machine, report);
  const IsaKernels* kernels = kernels_for(machine.instructions);
  if (!kernels) return std::nullopt;
  const MultiplyPairs pairs = machine.bf16_dot_products ? multiply_pairs() : nullptr;
  const Backends backends{kernels->products, machine.instructions, library, pairs, machine.tile_registers};
  const std::shared_ptr<Products> made(new Products{backends, {}});
  if (tuning.threads) made->tuner.emplace(made->backends, report, machine, *tuning.threads, tuning.folder);
  ExecutorDesc d = table_executor("products", kProductRows<float>, claim, prepare, made.get());
  for (const Prim op : {GroupedMatmulKernel<float>::kOp, PointwiseWeightGrad::kOp}) d.ops.emplace_back(name(op));
  for (const auto& row : kPointwiseRows<float>) d.ops.emplace_back(row.op);
  d.owner = made;
  return d;
}

}  // namespace thunder
