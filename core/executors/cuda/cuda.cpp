#include "executors/cuda/cuda.h"

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "executors/cuda/kernel_rules.h"
#include "loops/cuda/arithmetic.h"
#include "loops/cuda/prelude.h"

namespace thunder {
namespace cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;
constexpr int64_t kBlocksOfMultiprocessor = 16;

const Rules* const kAllRules[] = {
#define THUNDER_CUDA_RULES(file) &file##_rules,
#include "executors/cuda/rules.inc"
#undef THUNDER_CUDA_RULES
};

// The first one that takes it; null: none.
const Rule* rule_of(const NodeView& view) {
  for (const Rules* rules : kAllRules)
    for (const Rule& r : *rules)
      if (r.op == view.node.op->name() && (!r.takes || r.takes(view))) return &r;
  return nullptr;
}

// The types that kernels name: T, an element in memory; C, its type in registers; A, the accumulator of sums.
std::string type_definitions(DType d) {
  const char* computed = loops::register_type_name(d);
  const char* added = d == DType::f32 ? "double" : is_integer(d) ? "u64" : computed;
  return cat("typedef ", loops::memory_type_name(d), " T;\ntypedef ", computed, " C;\ntypedef ", added,
             " A;\n__device__ inline C get(T v) { return ", loops::from_memory_text(d, "v"),
             "; }\n__device__ inline T put(C v) { return ", loops::to_memory_text(d, "v"),
             "; }\n__device__ inline C from_real(double v) { return ", loops::converted_text("v", DType::f64, d),
             "; }\n");
}

// The name of the kernel, which profilers show: "prims_take_add".
std::string kernel_name_of(const Rule& rule) {
  std::string name(rule.op);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string kernel_text(const Rule& rule, const NodeView& view) {
  if (!rule.text) return "";
  std::string text = rule.text;
  constexpr std::string_view kernel = "void kernel(";
  text.replace(text.find(kernel), kernel.size(), cat("void ", kernel_name_of(rule), "("));
  return cat(loops::kCudaNarrowReals, loops::kCudaPrelude, loops::kCudaRowsPrelude,
             type_definitions(rule.element(view)), rule.constants ? rule.constants(view) : "", text);
}

bool claim(const NodeView& view, void*) {
  return is_on_one_device(view, kCudaKind) && rule_of(view);
}

// A kernel compiled from the rule of its node's op.
class RuleKernel : public Kernel {
 public:
  RuleKernel(const NodeView& view, const Rule& rule, Accelerator& accelerator)
      : Kernel(this), kept_(&accelerator), rule_(rule), text_(kernel_text(rule, view)),
        node_{view.node, static_cast<nvidia::CudaDevice&>(accelerator)},
        scratch_(rule.scratch ? rule.scratch(view) : 0) {
    add_flags(rule.flags);
    if (!text_.empty()) node_.device.begin_compiling(text_);
    if (rule.refused)
      node_.assertion = node_.device.watch([refused = rule.refused(view)](const nvidia::DeviceAssertion&) {
        return make<Status>(Code::invalid_argument, refused);
      });
    if (rule.checked)
      node_.assertion = node_.device.watch(
          [op = std::string(view.node.op->name()), checked = rule.checked(view)](const nvidia::DeviceAssertion& r) {
            return make<Status>(Code::out_of_range, cat(op, ": index ", r.index, " is out of range for ",
                                                        checked[static_cast<size_t>(r.expr)]));
          });
  }
  ~RuleKernel() override {
    if (node_.assertion) node_.device.unwatch(node_.assertion);
  }
  size_t scratch() const override { return scratch_; }
  void finish_compiling() override {
    if (text_.empty()) return;
    node_.steps[0] = node_.device.function(text_, kernel_name_of(rule_).c_str());
    for (size_t i = 0; i < rule_.others.size() && rule_.others[i]; i++)
      node_.steps[i + 1] = node_.device.function(text_, rule_.others[i]);
    text_.clear(), text_.shrink_to_fit();
  }
  Status* run(const Launch* launch) const { return rule_.run(node_, *launch); }

 private:
  const Ref<Accelerator> kept_;
  const Rule& rule_;
  std::string text_;  // until it is compiled
  CompiledNode node_;
  const size_t scratch_;
};

KernelPtr prepare(const NodeView& view, void* user) {
  return std::make_unique<RuleKernel>(
      view, *rule_of(view),
      static_cast<Devices*>(user)->accelerator(view.store.type(view.node.results[0]).device));
}

}  // namespace

Status* CompiledNode::launch(int64_t work, bool by_block, void** parameters, size_t step) const {
  if (work == 0) return nullptr;
  const int64_t blocks = by_block ? work : (work + kThreads - 1) / kThreads;
  const int64_t most = kBlocksOfMultiprocessor * std::max(1, device.properties().multiprocessors);
  return device.launch(steps[step], {static_cast<unsigned>(std::min(blocks, most)), kThreads}, parameters,
                       node.op->name().data());
}

Status* CompiledNode::copy(const Buffer& from, const Buffer& to) const {
  const int64_t bytes = to.elements() * static_cast<int64_t>(size_of(to.dtype)), one = 1;
  if (from.data == to.data || bytes == 0) return nullptr;
  return device.copy({from.as<std::byte>(), 1, &bytes, &one}, {to.as<std::byte>(), 1, &bytes, &one}, 1);
}

DimSizes split_sizes_at(const Buffer& b, int64_t axis) {
  DimSizes a;
  if (b.rank == 0) return a;
  const size_t dim = normalize_axis(axis, static_cast<size_t>(b.rank));
  for (size_t i = 0; i < static_cast<size_t>(b.rank); i++)
    (i < dim ? a.outer : i == dim ? a.size : a.inner) *= b.shape[i];
  return a;
}

DType first_input_dtype(const NodeView& view) { return view.store.type(view.node.args[0].v).dtype; }
DType first_result_dtype(const NodeView& view) { return view.store.type(view.node.results[0]).dtype; }
int64_t elements_of_input(const NodeView& view, size_t arg) {
  return elements(view.store.type(view.node.args[arg].v).shape).value();
}

std::string describe_dim_size(size_t dim, Dim size) { return cat("dim ", dim, " of size ", size.value()); }

}  // namespace cuda_kernels

ExecutorDesc cuda_executor(Devices& devices) {
  ExecutorDesc d;
  d.name = "cuda";
  for (const cuda_kernels::Rules* rules : cuda_kernels::kAllRules)
    for (const cuda_kernels::Rule& r : *rules) d.ops.emplace_back(r.op);
  d.any_device = true;
  d.user = &devices;
  d.claim = cuda_kernels::claim;
  d.prepare = cuda_kernels::prepare;
  return d;
}

}  // namespace thunder
