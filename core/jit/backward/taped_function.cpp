#include "jit/backward/taped_function.h"

#include "base/text.h"
#include "ops/grad.h"
#include "transforms/transforms.h"

namespace thunder {
namespace {

// The named ones among its results.
class Selected : public Function {
 public:
  Selected(Ref<Function> f, std::vector<bool> results)
      : Function(f->name()), f_(std::move(f)), results_(std::move(results)) {}

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    const Values* all = apply(scope, *f_, in);
    if (scope.status()) return scope.status();
    for (size_t i = 0; i < results_.size(); i++)
      if (results_[i]) out.push((*all)[i].tensor);
    return {};
  }

 private:
  const Ref<Function> f_;
  const std::vector<bool> results_;
};

std::string join_wanted_numbers(const std::vector<bool>& wanted) {
  std::string out;
  for (size_t i = 0; i < wanted.size(); i++)
    if (wanted[i]) out += cat(out.empty() ? "" : ",", i);
  return out;
}

size_t count_true(const std::vector<bool>& of) { return static_cast<size_t>(std::count(of.begin(), of.end(), true)); }

// vjp() without the results and with one flat list of inputs.
class PulledBack : public Function {
 public:
  PulledBack(const Ref<Function>& f, const std::vector<bool>& reached, const std::vector<bool>& wanted)
      : Function(cat("backward(", f->name(), ")")),
        inputs_(wanted.size()),
        gradients_(count_true(wanted)),
        vjp_(vjp(Ref<Function>::adopt(new Selected(f, reached)), {join_wanted_numbers(wanted)})) {}

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    std::vector<Leaf> leaves;
    std::string structure;
    for (size_t i = 0; i < in.size(); i++) {
      leaves.push_back(in[i]);
      structure += i == 0 ? "*" : i == inputs_ ? ",[*" : ",*";
    }
    Values arguments, all;
    arguments.assign(std::move(leaves), structure + "]");
    arguments.reads = in.reads;
    if (Ref<Status> failed = vjp_->call(scope, arguments, all)) return failed;
    for (size_t i = all.size() - gradients_; i < all.size(); i++) out.push(all[i].tensor);
    return {};
  }

 private:
  const size_t inputs_, gradients_;
  const Ref<Function> vjp_;
};

// A call whose gradient recomputes the intermediate values that it needs.
class RecomputedCall final : public TapedCall {
 public:
  RecomputedCall(Ref<TapedFunction> function, TapedInputs inputs)
      : TapedCall(std::move(inputs)), function_(std::move(function)) {}
  void differentiate(Grad& grad) const override { differentiate_again(grad, *function_); }

 private:
  const Ref<TapedFunction> function_;
};

}  // namespace

TapedFunction::TapedFunction(CompileSetup setup, Ref<Function> function)
    : setup_(std::move(setup)), function_(std::move(function)), compiled_(make<Compiled>(setup_, function_)) {}

Ref<TapedFunction> TapedFunction::gradient(const std::vector<bool>& reached, const std::vector<bool>& wanted) {
  const std::lock_guard lock(mutex_);
  Ref<TapedFunction>& made = gradients_[{reached, wanted}];
  if (!made)
    made = make<TapedFunction>(setup_, Ref<Function>::adopt(new PulledBack(function_, reached, wanted)));
  return made;
}

TapedCall::TapedCall(TapedInputs inputs)
    : OpDef("compiled(tensor[] inputs) -> tensor[]"), leaves_(std::move(inputs.leaves)) {
  tags = kOwnRules;
  vjp = [](Grad& grad) { static_cast<const TapedCall&>(grad.op).differentiate(grad); };
}

EagerBuilder& tape_of(const Grad& grad) {
  auto* tape = dynamic_cast<EagerBuilder*>(&grad.builder);
  ensure(tape != nullptr, "the call of a compiled function is differentiated outside of its tape");
  return *tape;
}

size_t TapedCall::input_of(size_t value) const {
  size_t input = 0;
  for (;; input++)
    if (leaves_[input].kind == ArgKind::none && value-- == 0) return input;
}

TapedInputs TapedCall::inputs(const Grad& grad) const {
  TapedInputs out;
  auto next = grad.args[0].value_list().begin();
  for (const Leaf& l : leaves_) {
    if (l.kind == ArgKind::none) out.push(*next++);
    else out.push(l);
  }
  return out;
}

void TapedCall::differentiate_again(Grad& grad, TapedFunction& function) const {
  std::vector<bool> reached, wanted;
  for (size_t i = 0; i < grad.count(); i++) reached.push_back(grad.reached(i));
  std::vector<size_t> of;
  size_t value = 0;
  for (const Leaf& l : leaves_) {
    const bool wants = l.kind == ArgKind::none && grad.wants(0, value);
    if (wants) of.push_back(value);
    value += l.kind == ArgKind::none;
    wanted.push_back(wants);
  }
  TapedInputs in = inputs(grad);
  for (size_t i = 0; i < reached.size(); i++)
    if (reached[i]) in.push(grad.cotangent(i).id);
  add_gradients(grad, call_recorded(tape_of(grad), function.gradient(reached, wanted), std::move(in)), of);
}

std::vector<ValueId> call_recorded(EagerBuilder& tape, const Ref<TapedFunction>& function, TapedInputs inputs) {
  Values in;
  std::vector<Leaf> leaves = inputs.leaves;
  std::string structure;
  auto next = inputs.values.begin();
  for (Leaf& l : leaves) {
    if (l.kind == ArgKind::none) l.kind = ArgKind::value, l.tensor = tape.tensor(*next++);
    structure += structure.empty() ? "*" : ",*";
  }
  in.assign(std::move(leaves), structure);
  const auto out = make<Values>();
  if (Status* failed = function->compiled()->call(in, *out)) throw Error(Ref<Status>::adopt(failed));
  Results results;
  for (size_t i = 0; i < out->size(); i++) results.push_back(tape.add((*out)[i].tensor));
  const Arg values = Arg::values(inputs.values);
  tape.record(std::make_shared<RecomputedCall>(function, inputs), {&values, 1}, results);
  return {results.begin(), results.end()};
}

void add_gradients(Grad& grad, std::span<const ValueId> gradients, std::span<const size_t> of) {
  for (size_t i = 0; i < gradients.size(); i++) grad.add(0, of[i], grad.builder.var(gradients[i]));
}

}  // namespace thunder
