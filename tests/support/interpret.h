// One function run eagerly and run as a trace: both must leave the same results and the same inputs.
#pragma once

#include <functional>

#include "ir/verify.h"
#include "support/eager.h"
#include "tracer/tracing.h"

namespace thunder::tests {

// What a function under test calls ops through, in either scope.
struct Ops {
  Scope& scope;
  Tensor* operator()(std::string_view op, std::initializer_list<Any> args) const {
    return scope.invoke(op, {args.begin(), args.size()}, nullptr, nullptr, 0, nullptr);
  }
  std::vector<Tensor*> list(std::string_view op, std::initializer_list<Any> args, size_t n) const {
    std::vector<Tensor*> out(n);
    scope.invoke(op, {args.begin(), args.size()}, nullptr, out.data(), n, nullptr);
    return out;
  }
};
using Function = std::function<std::vector<Tensor*>(const Ops&, std::span<Tensor* const>)>;

// Runs a trace's lines one after the other by the reference kernels, every value dense and on its own.
class Interpreter {
 public:
  explicit Interpreter(const Trace& trace) : trace_(trace), values_(trace.store->size()) {}

  // `arguments` by their index; captured tensors come from the scope. Applies the writes at the end.
  std::vector<Ref<Tensor>> run(std::span<const Ref<Tensor>> arguments, const std::vector<Ref<Tensor>>& captured) {
    std::vector<Ref<Tensor>> bound;
    for (size_t i = 0; i < trace_.inputs.size(); i++) {
      const Input& in = trace_.inputs[i];
      bound.push_back(in.source == Source::argument ? arguments[in.index] : captured[i]);
      values_[in.value] = bound.back();
    }
    for (const Node* n : trace_.nodes) run(*n);
    std::vector<Ref<Tensor>> out, written;
    for (ValueId v : trace_.outputs) out.push_back(copy(*values_[v]));
    for (const Write& w : trace_.writes) written.push_back(copy(*values_[w.value]));
    for (size_t i = 0; i < written.size(); i++) copy_strided(written[i]->buffer(), bound[trace_.writes[i].input]->buffer());
    return out;
  }

 private:
  static Ref<Tensor> copy(const Tensor& t) {
    auto dense = Tensor::empty(default_allocator(), t.type());
    copy_strided(t.buffer(), dense->buffer());
    return dense;
  }
  void run(const Node& node) {
    if (!node.op->prim) {
      for (const Node* inner : node.body) run(*inner);
      return;
    }
    SmallVector<Buffer, 8> in, out;
    for_each_value(node.args, [&](ValueId v) { in.push_back(values_[v]->buffer()); });
    for (ValueId v : node.results) {
      values_[v] = Tensor::empty(default_allocator(), trace_.type(v));
      out.push_back(values_[v]->buffer());
    }
    Status* failed = run_reference(def(node), {in, out, node.args});
    if (failed) ADD_FAILURE() << Ref<Status>::adopt(failed)->message();
  }

  const Trace& trace_;
  std::vector<Ref<Tensor>> values_;
};

// Numbers 1, 2, 3 ... in a dense f32 tensor.
inline Ref<Tensor> counting(std::initializer_list<Dim> shape) {
  TensorType type;
  type.dtype = DType::f32;
  type.shape = Shape(shape);
  auto t = Tensor::empty(default_allocator(), type);
  for (int64_t i = 0; i < t->elements(); i++) reinterpret_cast<float*>(t->data())[i] = static_cast<float>(i + 1);
  return t;
}

// What a run leaves: the outputs, then the inputs; or the error.
struct Outcome {
  std::vector<Doubles> values;
  std::string error;
};
using MakeInputs = std::function<std::vector<Ref<Tensor>>()>;

inline std::vector<Tensor*> pointers(const std::vector<Ref<Tensor>>& tensors) {
  std::vector<Tensor*> out;
  for (auto& t : tensors) out.push_back(t.get());
  return out;
}

inline Outcome run_eagerly(const Function& f, const MakeInputs& make, bool taped = false) {
  Eager e(taped);
  Outcome outcome;
  const auto inputs = make();
  const auto results = f(Ops{e.scope()}, pointers(inputs));
  if (e.scope().status()) return {{}, e.scope().status()->message()};
  for (Tensor* t : results) outcome.values.push_back(values(t));
  for (auto& t : inputs) outcome.values.push_back(values(t.get()));
  return outcome;
}

inline Outcome run_traced(const Function& f, const MakeInputs& make) {
  Eager e;
  Outcome outcome;
  const auto inputs = make();
  TracingScope scope(e.scope().environment(), "f");
  std::vector<Tensor*> proxies;
  for (auto& t : inputs) proxies.push_back(scope.argument_proxy(t->type(), "x" + std::to_string(proxies.size()), t));
  try {
    const auto results = f(Ops{scope}, proxies);
    if (scope.status()) return {{}, scope.status()->message()};
    const Trace trace = scope.finish(results);
    verify(trace);
    for (auto& t : Interpreter(trace).run(inputs, scope.captured())) outcome.values.push_back(values(t.get()));
  } catch (const Error& error) {
    return {{}, error.message()};
  }
  for (auto& t : inputs) outcome.values.push_back(values(t.get()));
  return outcome;
}

}  // namespace thunder::tests
