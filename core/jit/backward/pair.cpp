#include "jit/backward/pair.h"

#include <algorithm>

#include "base/text.h"
#include "jit/segments/segments.h"
#include "ops/grad.h"

namespace thunder {
namespace {

// What the forward and its gradients are compiled with, which have names of their own.
CompileSetup setup_of_pair(const CompiledState& of) {
  CompileSetup out{of.setup.context, make<CompileOptions>(*of.setup.options), of.programs.recent(), true};
  if (out.options->find("name")) out.options->set("name", Any::string("")), out.options->update_settings();
  return out;
}

// A tape's line for a call of a forward, with all of the forward's results.
class SplitCall final : public TapedCall {
 public:
  SplitCall(Ref<Split> split, TapedInputs inputs)
      : TapedCall(std::move(inputs)), split_(std::move(split)) {}

  bool depends(size_t result, size_t value) const override {
    const std::vector<std::vector<bool>>& reaches = split_->parts().reaches;
    return result >= reaches.size() || reaches[result][input_of(value)];
  }

  void differentiate(Grad& grad) const override {
    const size_t outputs = split_->parts().outputs.differentiable();
    for (size_t i = outputs; i < grad.count(); i++)
      if (grad.reached(i)) return differentiate_again(grad, *split_->taped_forward());
    // For each input its value on the tape, where it has one.
    const TapedInputs in = inputs(grad);
    std::vector<size_t> value_of;
    std::vector<bool> wanted;
    size_t value = 0;
    for (const Leaf& l : in.leaves) {
      value_of.push_back(value);
      wanted.push_back(l.kind == ArgKind::none && grad.wants(0, value));
      value += l.kind == ArgKind::none;
    }
    std::vector<bool> reached;
    for (size_t output : split_->parts().cotangents) reached.push_back(grad.reached(output));
    const Split::Backward& backward = split_->backward(reached, wanted);
    if (backward.wrt.empty()) return;
    std::vector<size_t> of;
    for (size_t input : backward.wrt) of.push_back(value_of[input]);
    add_gradients(
        grad, call_recorded(tape_of(grad), backward.function, collect_backward_inputs(grad, backward, in, value_of)),
        of);
  }

 private:
  // The values that a backward reads.
  TapedInputs collect_backward_inputs(const Grad& grad, const Split::Backward& backward, const TapedInputs& in,
                                      const std::vector<size_t>& value_of) const {
    TapedInputs out;
    const size_t inputs = split_->parts().inputs.size();
    for (size_t saved : backward.saved) {
      const size_t place = split_->saved()[saved];
      if (place >= inputs) out.push(grad.result(place - inputs).id);
      else if (in.leaves[place].kind == ArgKind::none) out.push(in.values[value_of[place]]);
      else out.push(in.leaves[place]);
    }
    for (size_t output : split_->parts().cotangents)
      if (grad.reached(output)) out.push(grad.cotangent(output).id);
    return out;
  }

  const Ref<Split> split_;
};

// The inputs of the forward as values of the tape.
TapedInputs enter_forward_inputs(EagerScope& tape, const Split& split, const Values& in) {
  TapedInputs out;
  Leaf unused;  // the random state: no gradient reads it
  unused.kind = ArgKind::integer;
  for (const SplitInput& place : split.parts().inputs) {
    if (place.number) out.push(in[place.leaf]);
    else if (place.leaf != SplitInput::kCaptured) out.push(tape.enter(in[place.leaf].tensor.get()));
    else if (place.captured) out.push(tape.enter(place.captured.get()));
    else out.push(unused);
  }
  return out;
}

Tensor* written_tensor(const Split& split, size_t input, const Values& in) {
  const SplitInput& place = split.parts().inputs[input];
  return place.captured ? place.captured.get() : in[place.leaf].tensor.get();
}

}  // namespace

Pair::Pair(const CompiledState& of)
    : function_(make<ForwardFunction>(setup_of_pair(of), without_reads(of.function))),
      forward_(make<Compiled>(CompileSetup{of.setup.context, of.setup.options, of.programs.recent(), true},
                              Ref<Function>(function_.get()))) {}

Values* Pair::call(EagerScope& tape, const Values& in, std::string& why) {
  const auto made = make<Values>();
  if (auto failed = Ref<Status>::adopt(forward_->call(in, *made))) {
    if (failed->code() != Code::unimplemented) throw Error(failed);
    why = failed->message();
    return nullptr;
  }
  return record_on_tape(tape, in, *made);
}

std::shared_ptr<const Entry> Pair::latest_backward() const {
  const Ref<TapedFunction> function = function_->latest_backward();
  const auto entry = function ? function->compiled()->reports().latest() : nullptr;
  if (!entry) return nullptr;
  const auto owner = std::make_shared<std::pair<Ref<TapedFunction>, std::shared_ptr<const Entry>>>(function, entry);
  return {owner, entry.get()};
}

Values* Pair::record_on_tape(EagerScope& tape, const Values& in, const Values& made) {
  const Ref<Split> split(static_cast<Split*>(made[made.size() - 1].auxiliary.get()));
  if (split->claim_first_use()) set_compiled_last(true);
  const Split::Parts& parts = split->parts();
  const TapedInputs inputs = enter_forward_inputs(tape, *split, in);
  EagerBuilder& builder = tape.builder();
  // The results, then the saved values.
  std::vector<size_t> leaves = parts.outputs.results;
  for (size_t i = parts.leaves; i + 1 < made.size(); i++) leaves.push_back(i);
  Results values;
  for (size_t leaf : leaves) values.push_back(builder.add(made[leaf].tensor));
  const Arg arguments = Arg::values(inputs.values);
  builder.record(std::make_shared<SplitCall>(split, inputs), {&arguments, 1}, values);

  std::vector<Leaf> out;
  for (size_t i = 0; i < parts.leaves; i++) out.push_back(made[i]);
  for (size_t i = 0; i < parts.outputs.results.size(); i++)
    out[leaves[i]].tensor = Ref<Tensor>(tape.wrap(values[i]));
  for (size_t i = 0; i < parts.outputs.written.size(); i++)
    tape.write(written_tensor(*split, parts.outputs.written[i], in), values[parts.outputs.results.size() + i]);
  auto results = make<Values>();
  results->assign(std::move(out), parts.structure);
  return tape.own(std::move(results));
}

}  // namespace thunder
