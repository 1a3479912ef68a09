#include "executors/host/host.h"

#include "ir/symbolic/formulas.h"
#include "ops/widened.h"

namespace thunder {
namespace {

// Nodes live as long as the program, which holds their store.
class HostKernel : public Kernel {
 public:
  explicit HostKernel(const Node& node) : Kernel(this), op_(def(node)), args_(node.args) { add_flags(kShareable); }
  // `lists`: the dims that arguments point to.
  HostKernel(const OpDef& op, std::vector<Arg> args, std::vector<Dim> lists)
      : Kernel(this), op_(op), own_args_(std::move(args)), own_lists_(std::move(lists)), args_(own_args_) {}

  std::unique_ptr<const KernelOfClass> of_class(const LineView& line) const override;
  Status* run(const Launch* launch) const {
    return run_reference(op_, {{launch->inputs, launch->n_inputs},
                               {launch->outputs, launch->n_outputs},
                               args_,
                               &op_,
                               launch->threads});
  }

 private:
  const OpDef& op_;
  const std::vector<Arg> own_args_;
  const std::vector<Dim> own_lists_;
  const std::span<const Arg> args_;
};

// The sizes among its arguments are formulas; those of tensors come with each call.
class HostKernelOfClass : public KernelOfClass {
 public:
  explicit HostKernelOfClass(const Node& line) : line_(line) {
    for (const Arg& a : line.args) {
      if (a.kind == ArgKind::symbolic) sizes_.push_back(formulas_.add(a.dim()));
      if (a.kind == ArgKind::dims)
        for (Dim d : a.dim_list()) sizes_.push_back(formulas_.add(d));
    }
  }
  KernelPtr kernel_for(const SizedLine& sized) const override {
    const std::vector<int64_t> values = formulas_.evaluate(sized.symbols);
    std::vector<Arg> args(line_.args.begin(), line_.args.end());
    std::vector<Dim> lists;
    lists.reserve(sizes_.size());  // they must not move
    size_t next = 0;
    for (Arg& a : args) {
      if (a.kind == ArgKind::symbolic) a = Arg::integer(Formulas::value(sizes_[next++], values));
      if (a.kind != ArgKind::dims) continue;
      const Dim* const first = lists.data() + lists.size();
      for (uint32_t i = 0; i < a.count; i++) lists.push_back(Formulas::value(sizes_[next++], values));
      a.d = first;
    }
    return std::make_unique<HostKernel>(def(line_), std::move(args), std::move(lists));
  }

 private:
  const Node& line_;
  Formulas formulas_;
  std::vector<FormulaRef> sizes_;  // in the order of the arguments
};

std::unique_ptr<const KernelOfClass> HostKernel::of_class(const LineView& line) const {
  return std::make_unique<HostKernelOfClass>(*line.of_class);
}

// Claims every prim, and composites that bring a kernel.
bool claim(const NodeView& view, void*) { return def(view.node).has_kernel() && !def(view.node).has(kHidden); }

KernelPtr prepare(const NodeView& view, void*) { return std::make_unique<HostKernel>(view.node); }

}  // namespace

ExecutorDesc host_executor() {
  return {.name = "host", .flags = kStrided, .claims_any_size = true, .claim = claim, .prepare = prepare};
}

}  // namespace thunder
