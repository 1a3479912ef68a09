#include "base/text.h"
#include "tracer/replay.h"
#include "transforms/inner.h"
#include "transforms/transforms.h"

namespace thunder {
namespace {

class Checkpoint : public Function {
 public:
  explicit Checkpoint(Ref<Function> f) : Function(cat("checkpoint(", f->name(), ")")), f_(std::move(f)) {}

  // Writes come behind the line, which is functional.
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    if (!scope.tracing()) {
      out.assign(*apply(scope, *f_, in));
      return {};
    }
    std::vector<InnerArgument> arguments;
    std::vector<Tensor*> given;
    for (size_t i = 0; i < in.size(); i++) {
      Tensor* t = in[i].tensor.get();
      if (!t || t->kind() == Tensor::Kind::number || t->kind() == Tensor::Kind::failed || t->type().weak) continue;
      arguments.push_back({i, t->type()});
      given.push_back(t);
    }
    Inner inner = trace_inside(scope, *f_, in, arguments);
    Trace trace = inner.trace;
    const std::optional<size_t> random = random_input(trace);
    std::vector<Write> writes;
    for (const Write& w : trace.writes)
      if (w.input != random) writes.push_back(w), trace.outputs.push_back(w.value);
    trace.writes.clear();
    const std::vector<Tensor*> around = inputs_inside(scope, inner, trace, given);
    const std::vector<Tensor*> made =
        scope.checkpointed(around, [&] { return replay_inside(scope, inner, std::move(trace), given); });
    const size_t results = inner.outputs.size();
    for (size_t i = 0; i < results; i++) inner.results->set_tensor(inner.outputs[i], Ref<Tensor>(made[i]));
    for (size_t i = 0; i < writes.size(); i++) {
      Tensor* to = around[writes[i].input];
      scope.run_formulas([&] { scope.write(to, scope.enter(made[results + i])); });
    }
    out.assign(*inner.results);
    return {};
  }

 private:
  Ref<Function> f_;
};

}  // namespace

Ref<Function> checkpoint(Ref<Function> f) { return Ref<Function>::adopt(new Checkpoint(std::move(f))); }

}  // namespace thunder
