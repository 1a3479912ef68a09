#include "executors/cuda/cuda.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/text.h"
#include "base/thrown.h"
#include "executors/cuda/kernel.h"
#include "loops/cuda/arithmetic.h"
#include "loops/cuda/prelude.h"

namespace thunder {
namespace cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;
constexpr int64_t kBlocksOfMultiprocessor = 16;

std::array<std::span<const Rule>, 5> all_rules() {
  return {fill_rules(), indexed_rules(), scan_rules(), pool_rules(), order_rules()};
}

const Rule* rule_of(std::string_view op) {
  for (std::span<const Rule> rules : all_rules())
    for (const Rule& r : rules)
      if (r.op == op) return &r;
  return nullptr;
}

// The types that kernels name: T, an element in memory; C, its type in registers; A, the accumulator of sums.
std::string types(DType d) {
  const char* computed = loops::type_of(d);
  const char* added = d == DType::f32 ? "double" : is_integer(d) ? "u64" : computed;
  return cat("typedef ", loops::memory_type(d), " T;\ntypedef ", computed, " C;\ntypedef ", added,
             " A;\n__device__ inline C get(T v) { return ", loops::loaded(d, "v"),
             "; }\n__device__ inline T put(C v) { return ", loops::stored(d, "v"),
             "; }\n__device__ inline C from_real(double v) { return ", loops::converted("v", DType::f64, d), "; }\n");
}

// The name of the kernel, which profilers show: "prims_take_add".
std::string name_of(const Rule& rule) {
  std::string name(rule.op);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string text_of(const Rule& rule, DType element) {
  std::string text = rule.text;
  constexpr std::string_view kernel = "void kernel(";
  text.replace(text.find(kernel), kernel.size(), cat("void ", name_of(rule), "("));
  return cat(loops::kCudaNarrowReals, loops::kCudaPrelude, loops::kCudaRowsPrelude, types(element), text);
}

bool claim(const NodeView& view, void*) {
  const Rule* rule = rule_of(view.node.op->name());
  return is_on_one_device(view, kCudaKind) && (!rule->takes || rule->takes(view));
}

uint32_t flags_of(const NodeView& view, void*) { return kAnyDevice | rule_of(view.node.op->name())->flags; }

// A node, its rule and, once it is compiled, its kernel.
struct PreparedKernel {
  Ref<Accelerator> kept;
  const Rule& rule;
  std::string text;  // until it is compiled
  Kernel kernel;
  ~PreparedKernel() {
    if (kernel.assertion) kernel.device.unwatch(kernel.assertion);
  }
};

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  return caught([&]() -> Status* {
    const Rule& rule = *rule_of(view.node.op->name());
    Accelerator& accelerator = static_cast<Devices*>(user)->accelerator(view.store.type(view.node.results[0]).device);
    auto& device = static_cast<nvidia::CudaDevice&>(accelerator);
    auto made = std::make_unique<PreparedKernel>(
        PreparedKernel{Ref<Accelerator>(&accelerator), rule, text_of(rule, rule.element(view)), {view.node, device}});
    device.begin_compiling(made->text);
    if (rule.checked)
      made->kernel.assertion = device.watch(
          [op = std::string(view.node.op->name()), checked = rule.checked(view)](const nvidia::DeviceAssertion& r) {
            return make<Status>(Code::invalid_argument, cat(op, ": index ", r.index, " is out of range for ",
                                                            checked[static_cast<size_t>(r.expr)]));
          });
    *scratch = rule.scratch ? rule.scratch(view) : 0;
    *state = made.release();
    return nullptr;
  });
}

Status* finish(void* state, Finished*) {
  return caught([&]() -> Status* {
    auto& prepared = *static_cast<PreparedKernel*>(state);
    prepared.kernel.function =
        prepared.kernel.device.function(prepared.text, name_of(prepared.rule).c_str());
    prepared.text.clear(), prepared.text.shrink_to_fit();
    return nullptr;
  });
}

Status* run(const Launch* launch, void* state) {
  const auto& prepared = *static_cast<const PreparedKernel*>(state);
  return prepared.rule.run(prepared.kernel, *launch);
}

void drop(void* state) { delete static_cast<PreparedKernel*>(state); }

}  // namespace

Status* Kernel::launch(int64_t work, bool by_block, void** parameters) const {
  if (work == 0) return nullptr;
  const int64_t blocks = by_block ? work : (work + kThreads - 1) / kThreads;
  const int64_t most = kBlocksOfMultiprocessor * std::max(1, device.properties().multiprocessors);
  return device.launch(function, {static_cast<unsigned>(std::min(blocks, most)), kThreads}, parameters,
                       node.op->name().data());
}

Status* Kernel::copy(const Buffer& from, const Buffer& to) const {
  const int64_t bytes = to.elements() * static_cast<int64_t>(size_of(to.dtype)), one = 1;
  if (from.data == to.data || bytes == 0) return nullptr;
  return device.copy({from.as<std::byte>(), 1, &bytes, &one}, {to.as<std::byte>(), 1, &bytes, &one}, 1);
}

DimSizes sizes_around(const Buffer& b, int64_t axis) {
  DimSizes a;
  if (b.rank == 0) return a;
  const size_t dim = normalize_axis(axis, static_cast<size_t>(b.rank));
  for (size_t i = 0; i < static_cast<size_t>(b.rank); i++)
    (i < dim ? a.outer : i == dim ? a.size : a.inner) *= b.shape[i];
  return a;
}

DType first_input(const NodeView& view) { return view.store.type(view.node.args[0].v).dtype; }

std::string dim_of_size(size_t dim, Dim size) { return cat("dim ", dim, " of size ", size.value()); }

}  // namespace cuda_kernels

ExecutorDesc cuda_executor(Devices& devices) {
  ExecutorDesc d;
  d.name = "cuda";
  for (std::span<const cuda_kernels::Rule> rules : cuda_kernels::all_rules())
    for (const cuda_kernels::Rule& r : rules) d.ops.emplace_back(r.op);
  d.flags = kAnyDevice;
  d.user = &devices;
  d.claim = cuda_kernels::claim;
  d.flags_of = cuda_kernels::flags_of;
  d.prepare = cuda_kernels::prepare;
  d.finish = cuda_kernels::finish;
  d.run = cuda_kernels::run;
  d.drop = cuda_kernels::drop;
  return d;
}

}  // namespace thunder
