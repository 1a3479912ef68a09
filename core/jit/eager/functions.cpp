#include "jit/eager/functions.h"

#include <algorithm>

#include "ops/grad.h"
#include "tracer/recorder.h"
#include "tracer/scope.h"

namespace thunder {
namespace {

// The arguments of a key's call with other values in place of its tensors.
class Arguments {
 public:
  template <class Next>
  Arguments(const EagerKey& key, Next next)
      : args_(key.node().args.begin(), key.node().args.end()), lists_(args_.size()) {
    for (size_t i = 0; i < args_.size(); i++) {
      const Arg given = args_[i];
      if (given.kind == ArgKind::value) args_[i].v = next();
      if (given.kind != ArgKind::values) continue;
      for (size_t k = 0; k < given.value_list().size(); k++) lists_[i].push_back(next());
      args_[i] = Arg::values(lists_[i]);
    }
  }
  Arguments(const Arguments&) = delete;
  std::span<const Arg> get() const { return args_; }

 private:
  std::vector<Arg> args_;
  std::vector<std::vector<ValueId>> lists_;
};

class OneOp final : public Function {
 public:
  OneOp(const OpDef& op, const EagerKey& key) : Function(std::string(op.name())), op_(op), key_(key) {}
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    size_t next = 0;
    scope.run_formulas([&] {
      const Arguments args(key_, [&] { return scope.enter(in[next++].tensor.get()); });
      for (ValueId v : scope.builder().invoke(op_, args.get())) out.push(Ref<Tensor>(scope.wrap(v)));
    });
    return nullptr;
  }

 private:
  const OpDef& op_;
  const EagerKey& key_;
};

// Tells what has no gradient from what has one of zeros.
class OneGradient : public Backward {
 public:
  OneGradient(Builder& builder, const Node* const& node) : Backward(builder, {&node, 1}, true) {}
  ValueId cotangent(ValueId of) const {
    const auto it = cotangents_.find(of);
    return it == cotangents_.end() ? kNoValue : it->second.id;
  }
};

class GradientOfOp final : public Function {
 public:
  GradientOfOp(const OpDef& op, const EagerKey& key, GradientInputs inputs, std::vector<GradientPlace>& places)
      : Function(std::string(op.name()) + "_backward"),
        op_(op), key_(key), inputs_(std::move(inputs)), places_(places) {}

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    scope.run_formulas([&] {
      std::vector<ValueId> ids;
      for (size_t i = 0; i < in.size(); i++) ids.push_back(scope.enter(in[i].tensor.get()));
      trace_gradient(scope, ids, out);
    });
    return nullptr;
  }

 private:
  void trace_gradient(Scope& scope, const std::vector<ValueId>& ids, Values& out) {
    auto& recorder = dynamic_cast<Recorder&>(scope.builder());
    size_t next = 0;
    const Arguments args(key_, [&] { return ids[inputs_.in[next++]]; });
    Results results;
    for (int64_t r : inputs_.results) results.push_back(ids[r]);
    const Node* node = recorder.store().node(&op_, args.get(), results, {}, nullptr);
    if (!op_.vjp) node = record_with_body(recorder, args.get());
    std::vector<Seed> seeds;
    for (size_t i = 0; i < inputs_.cotangents.size(); i++)
      if (inputs_.cotangents[i] >= 0) seeds.push_back({node->results[i], recorder.var(ids[inputs_.cotangents[i]])});
    std::vector<ValueId> wrt;
    for (size_t i = 0; i < inputs_.in.size(); i++)
      if (inputs_.wanted[i]) wrt.push_back(ids[inputs_.in[i]]);
    OneGradient backward(recorder, node);
    backward.run(seeds, wrt);
    collect_gradients(scope, backward, ids, out);
  }

  // A composite without a gradient rule is differentiated through the lines of its body.
  const Node* record_with_body(Recorder& recorder, std::span<const Arg> args) {
    recorder.invoke(op_, args);
    const Node* node = recorder.nodes().empty() ? nullptr : recorder.nodes().back();
    if (!node || node->op != &op_) fail(Code::unimplemented, op_.name(), " is no line of its own");
    return node;
  }

  void collect_gradients(Scope& scope, const OneGradient& backward, const std::vector<ValueId>& ids, Values& out) {
    std::vector<ValueId> given;
    places_.assign(inputs_.in.size(), {});
    for (size_t i = 0; i < inputs_.in.size(); i++) {
      const ValueId found = inputs_.wanted[i] ? backward.cotangent(ids[inputs_.in[i]]) : kNoValue;
      const bool again = std::find(inputs_.in.begin(), inputs_.in.begin() + i, inputs_.in[i]) != inputs_.in.begin() + i;
      if (found == kNoValue || again) continue;
      if (const auto at = std::find(ids.begin(), ids.end(), found); at != ids.end()) {
        places_[i] = {GradientPlace::Kind::input, static_cast<size_t>(at - ids.begin())};
        continue;
      }
      const auto at = std::find(given.begin(), given.end(), found);
      places_[i] = {GradientPlace::Kind::result, static_cast<size_t>(at - given.begin())};
      if (at != given.end()) continue;
      given.push_back(found);
      out.push(Ref<Tensor>(scope.wrap(found)));
    }
  }

  const OpDef& op_;
  const EagerKey& key_;
  const GradientInputs inputs_;
  std::vector<GradientPlace>& places_;
};

}  // namespace

Ref<Function> function_of_op(const OpDef& op, const EagerKey& key) {
  return Ref<Function>::adopt(new OneOp(op, key));
}

Ref<Function> function_of_gradient(const OpDef& op, const EagerKey& key, GradientInputs inputs,
                                   std::vector<GradientPlace>& places) {
  inputs.tensors.clear();  // those of one call
  return Ref<Function>::adopt(new GradientOfOp(op, key, std::move(inputs), places));
}

GradientInputs::GradientInputs(std::span<Tensor* const> in_given, std::span<Tensor* const> results_given,
                               std::span<Tensor* const> cotangents_given, const std::vector<bool>& wanted_given)
    : wanted(wanted_given) {
  const auto number = [this](Tensor* t) -> int64_t {
    if (!t) return kAbsent;
    const auto at = std::find(tensors.begin(), tensors.end(), t);
    if (at != tensors.end()) return at - tensors.begin();
    tensors.push_back(t);
    return static_cast<int64_t>(tensors.size()) - 1;
  };
  for (Tensor* t : in_given) in.push_back(number(t));
  for (Tensor* t : results_given) results.push_back(number(t));
  for (Tensor* t : cotangents_given) cotangents.push_back(number(t));
}

std::vector<int64_t> GradientInputs::key() const {
  std::vector<int64_t> out;
  for (const auto* list : {&in, &results, &cotangents}) out.insert(out.end(), list->begin(), list->end());
  for (const bool w : wanted) out.push_back(w);
  // Those among the arguments are told apart by their strides already.
  for (const auto* list : {&results, &cotangents})
    for (const int64_t i : *list)
      if (i >= 0) out.insert(out.end(), tensors[i]->strides().begin(), tensors[i]->strides().end());
  return out;
}

}  // namespace thunder
