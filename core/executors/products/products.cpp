#include "executors/products/products.h"

#include <new>

#include "executors/isa/kernels.h"
#include "executors/products/autotune.h"
#include "executors/products/site.h"
#include "ir/shape.h"

namespace thunder {
namespace {

// The state of the executor.
struct Products {
  Backends backends;
  std::optional<Autotuner> tuner;
};
const Backends& backends_of(void* user) { return static_cast<const Products*>(user)->backends; }

bool claim(const NodeView& view, void* user) {
  return all_tensors_are<DType::f32>(view, user) || all_tensors_are<DType::bf16>(view, user) ||
         all_tensors_are<DType::f16>(view, user);
}

GemmSize gemm_size(const NodeView& view) {
  const Sizes a = concrete(view.store.type(view.node.args[0].v).shape),
              b = concrete(view.store.type(view.node.args[1].v).shape);
  if (a.empty() || b.size() < 2) return {};
  const bool linear = view.node.op->name() == "linear";
  int64_t rows = 1;
  for (size_t i = linear || a.size() < 2 ? 0 : a.size() - 2; i + 1 < a.size(); i++) rows *= a[i];
  return {rows, linear ? b[0] : b.back(), a.back()};
}

DType result_dtype(const NodeView& view) { return view.store.type(view.node.results[0]).dtype; }
FloatSite& float_site(void* state) { return *static_cast<FloatSite*>(static_cast<Site*>(state)); }

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  *scratch = 0;
  const Backends& backends = backends_of(user);
  const GemmSize s = gemm_size(view);
  Site* site = nullptr;
  switch (result_dtype(view)) {
    case DType::f16: site = new HalfSite(backends, row_of(kProductRows<f16>, view).products); break;
    case DType::bf16:
      site = new ProductSite<Bf16>(backends, rows_for(algorithms_of_bf16(), backends, s),
                                   row_of(kProductRows<Bf16>, view).products);
      break;
    default:
      site = new FloatSite(backends, rows_for(algorithms_of_f32(), backends, s),
                           row_of(kProductRows<float>, view).products);
  }
  *state = site;
  return nullptr;
}

Status* lay_out(const NodeView& view, void* state, size_t* scratch, void* user) {
  if (result_dtype(view) != DType::f32) return nullptr;
  FloatSite& site = float_site(state);
  auto& tuner = static_cast<Products*>(user)->tuner;
  try {
    if (tuner) site.algorithm = tuner->algorithm(site.available, site.products, view.inputs, view.outputs);
  } catch (const std::bad_alloc&) {  // no memory for timing: the cost model chooses
  }
  *scratch = site.scratch_for(view.inputs, view.outputs);
  return nullptr;
}

Status* pack(const Launch* launch, void* state, size_t* kept_bytes) {
  if (launch->outputs[0].dtype != DType::f32) return nullptr;
  try {
    *kept_bytes = float_site(state).pack(launch);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  }
}

}  // namespace

std::optional<ExecutorDesc> products_executor(const Machine& machine, const ProductOptions& options,
                                              std::string& report) {
  return products_executor(Library::names(), machine, options, report);
}

std::optional<ExecutorDesc> products_executor(std::span<const char* const> library_names, const Machine& machine,
                                              const ProductOptions& options, std::string& report) {
  const Library* library = Library::open(library_names, machine, report);
  const IsaKernels* kernels = kernels_for(machine.instructions);
  if (!kernels) return std::nullopt;
  const MultiplyPairs pairs = machine.bf16_dot_products ? multiply_pairs() : nullptr;
  const Backends backends{kernels->products,      machine.instructions, library, pairs,
                          machine.tile_registers, options.precision};
  const std::shared_ptr<Products> made(new Products{backends, {}});
  if (options.tuned_on) made->tuner.emplace(made->backends, report, machine, *options.tuned_on, options.folder);
  ExecutorDesc d = site_executor("products", kProductRows<float>, claim, prepare, made.get());
  d.flags |= kRunsEpilogue;
  d.lay_out = lay_out;
  d.prepack = pack;
  d.owner = made;
  return d;
}

}  // namespace thunder
