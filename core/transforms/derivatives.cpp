// jvp and vjp: functions that also return tangents of their results, or gradients of their arguments.
#include <algorithm>

#include "base/text.h"
#include "ir/normal.h"
#include "passes/jvp.h"
#include "transforms/differentiated.h"
#include "transforms/transforms.h"

namespace thunder {
namespace {

// Further arguments of the trace, after those it has: they follow the function's own.
std::vector<ValueId> append_arguments(const std::string& who, std::string_view what, Trace& trace,
                                      std::vector<Ref<Tensor>>& captured, size_t after,
                                      std::span<const TensorType> types, std::span<Tensor* const> given) {
  require(types.size() == given.size(), who, ": ", types.size(), " ", what, " are needed, ", given.size(),
          " were given");
  std::vector<ValueId> out;
  for (size_t i = 0; i < types.size(); i++) {
    const TensorType& got = given[i]->type();
    if (given[i]->kind() == Tensor::Kind::failed) throw Error(given[i]->failure());
    const bool same = std::equal(got.shape.begin(), got.shape.end(), types[i].shape.begin(), types[i].shape.end(),
                                 [](Dim a, Dim b) { return Product(Shape{a}) == Product(Shape{b}); });
    require(same && got.dtype == types[i].dtype, who, ": ", what, " ", i, " must be ",
            name(types[i]), ", got ", name(got));
    out.push_back(trace.store->add(got));
    trace.inputs.insert(trace.inputs.begin() + static_cast<ptrdiff_t>(after + i),
                        Input{out.back(), Source::argument, static_cast<uint32_t>(after + i), cat(what, ".", i)});
    captured.insert(captured.begin() + static_cast<ptrdiff_t>(after + i), nullptr);
  }
  for (Write& w : trace.writes)
    if (w.input >= after) w.input += static_cast<uint32_t>(types.size());
  return out;
}

std::vector<TensorType> types_of(const Trace& trace, std::span<const ValueId> values) {
  std::vector<TensorType> out;
  for (ValueId v : values) out.push_back(trace.type(v));
  return out;
}

class Jvp : public Function {
 public:
  Jvp(Ref<Function> f, Derivative what, bool forwards)
      : Function(cat(forwards ? "jvp(" : "vjp(", f->name(), ")")),
        f_(std::move(f)),
        what_(std::move(what)),
        forwards_(forwards) {}

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    Values rest;
    const std::string_view kind = forwards_ ? "tangents" : "cotangents";
    std::vector<Tensor*> last = take_last_list(name(), kind, in, rest);
    Differentiated d(name(), scope, *f_, rest, what_);
    Trace trace = d.inner.trace;
    const std::vector<ValueId> seeds = append_arguments(name(), kind, trace, d.inner.captured, d.inputs.size(),
                                                        types_of(trace, forwards_ ? d.inputs : d.outputs), last);
    const std::vector<ValueId> derived =
        (forwards_ ? push_forward : pull_back)(scope, trace, d.inputs, d.outputs, seeds);
    trace.outputs.insert(trace.outputs.end(), derived.begin(), derived.end());
    std::vector<Tensor*> given = d.given;
    given.insert(given.end(), last.begin(), last.end());
    const std::vector<Tensor*> made = replay_inside(scope, d.inner, std::move(trace), given);
    const size_t results = d.inner.outputs.size();
    for (size_t i = 0; i < results; i++) d.inner.results->set_tensor(d.inner.outputs[i], Ref<Tensor>(made[i]));
    out.assign(*d.inner.results);
    out.open(false, {});
    for (size_t i = results; i < made.size(); i++) out.push(Ref<Tensor>(made[i]));
    out.close();
    return {};
  }

 private:
  static std::vector<ValueId> push_forward(Scope& scope, Trace& trace, const std::vector<ValueId>& inputs,
                                           const std::vector<ValueId>& outputs, const std::vector<ValueId>& tangents) {
    Recorder recorder(*scope.environment().registry, trace.store);
    Forward walk(recorder);
    for (size_t i = 0; i < inputs.size(); i++) walk.set(inputs[i], recorder.var(tangents[i]));
    for (const Node* n : trace.nodes) walk.visit(*n);
    std::vector<ValueId> out;
    for (ValueId v : outputs) out.push_back(walk.tangent(v).id);
    trace.nodes = std::move(recorder.nodes());
    return out;
  }

  static std::vector<ValueId> pull_back(Scope& scope, Trace& trace, const std::vector<ValueId>& inputs,
                                        const std::vector<ValueId>& outputs, const std::vector<ValueId>& cotangents) {
    Recorder recorder(*scope.environment().registry, trace.store);
    recorder.nodes() = trace.nodes;
    std::vector<Seed> seeds;
    for (size_t i = 0; i < outputs.size(); i++) seeds.push_back({outputs[i], recorder.var(cotangents[i])});
    std::vector<ValueId> out = Backward(recorder, trace.nodes, true).run(seeds, inputs);
    trace.nodes = std::move(recorder.nodes());
    return out;
  }

  Ref<Function> f_;
  Derivative what_;
  bool forwards_;
};

}  // namespace

Ref<Function> jvp(Ref<Function> f, Derivative what) {
  return Ref<Function>::adopt(new Jvp(std::move(f), std::move(what), true));
}
Ref<Function> vjp(Ref<Function> f, Derivative what) {
  return Ref<Function>::adopt(new Jvp(std::move(f), std::move(what), false));
}

}  // namespace thunder
