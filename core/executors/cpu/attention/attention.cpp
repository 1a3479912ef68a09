#include "executors/cpu/executors.h"

#include <algorithm>
#include <array>

#include "executors/cpu/attention/ops.h"
#include "executors/cpu/widened_kernel.h"
#include "executors/cpu/isa/kernels.h"

namespace thunder {
namespace {

struct Row {
  std::string_view op;
  size_t query, mask;  // argument indices; key and value follow the query, the flags and the scale follow the mask
  KernelPtr (*make)(const AttentionKernels& kernels, const AttentionShape& shape);
};
KernelPtr prepare_any_forward(const AttentionKernels& kernels, const AttentionShape& g) {
  return g.queries <= kFewQueries ? prepare_few_queries(kernels, g) : prepare_forward(kernels, g);
}
constexpr std::array kRows = {
    Row{"scaled_dot_product_attention_forward", 0, 3, prepare_any_forward},
    Row{"scaled_dot_product_attention_backward", 1, 7, prepare_backward},
};

std::optional<AttentionShape> shape_of(const NodeView& view) {
  return AttentionShape::of(view, find_row(kRows, view).query, find_row(kRows, view).mask);
}

bool claim(const NodeView& view, void*) { return shape_of(view).has_value(); }

KernelPtr prepare(const NodeView& view, void* user) {
  const auto& kernels = *static_cast<const AttentionKernels*>(user);
  KernelPtr made = find_row(kRows, view).make(kernels, *shape_of(view));
  made->add_flags(kShareable);
  return widened_kernel(std::move(made), *kernels.products, view);
}

class AttentionOfClass : public KernelOfClass {
 public:
  AttentionOfClass(const AttentionKernels& kernels, const Node& line, const Row& row)
      : kernels_(kernels), line_(line), row_(row) {}
  KernelPtr kernel_for(const SizedLine& sized) const override {
    const auto shape = AttentionShape::of(line_, sized.inputs, row_.query, row_.mask);
    return shape ? row_.make(kernels_, *shape) : nullptr;
  }

 private:
  const AttentionKernels& kernels_;
  const Node& line_;
  const Row& row_;
};

}  // namespace

std::unique_ptr<const KernelOfClass> attention_of_class(const AttentionKernels& kernels, const Node& line) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.op == line.op->name(); });
  return std::make_unique<AttentionOfClass>(kernels, line, *row);
}

void AttentionKernels::multiply(const Product& p) const {
  // With many rows, packing b in `small` is amortized.
  const bool thin = p.m <= kFewQueries && p.a.column == 1 && (p.b.row == 1 || p.b.column == 1);
  (thin ? products->thin : products->small)(p);
}

int64_t AttentionKernels::choose_slot_count(const AttentionShape& g) const {
  const int64_t work = g.heads * g.queries * g.keys * (g.width + g.value_width);
  constexpr int64_t kThreadWork = 1 << 18;
  return std::clamp<int64_t>(work / kThreadWork, 1, static_cast<int64_t>(machine->threads));
}

std::optional<ExecutorDesc> attention_executor(const Machine& machine) {
  const IsaKernels* kernels = kernels_for(machine.instructions);
  if (!kernels) return std::nullopt;
  const std::shared_ptr<const AttentionKernels> code(
      new AttentionKernels{&kernels->products, &kernels->attention, &machine});
  ExecutorDesc d = table_executor("attention", kRows, claim, prepare, code.get());
  d.owner = code;
  return d;
}

}  // namespace thunder
