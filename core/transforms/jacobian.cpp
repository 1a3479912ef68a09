// Jacobians: the derivatives along a whole basis, as one batch.
#include "base/text.h"
#include "ir/prim.h"
#include "passes/batching.h"
#include "passes/jvp.h"
#include "transforms/differentiated.h"

namespace thunder {
namespace {

Dim elements_of(const Shape& shape) {
  Dim n = 1;
  for (Dim d : shape) n = n * d;
  return n;
}

Shape concat_shapes(const Shape& a, const Shape& b) {
  Shape out = a;
  for (Dim d : b) out.push_back(d);
  return out;
}

// A basis of several values together: for each value its part of every basis vector.
struct Basis {
  Basis(Builder& b, std::span<const ValueId> values) {
    for (ValueId v : values) starts.push_back(size), size = size + elements_of(b.type(v).shape);
    for (size_t i = 0; i < values.size(); i++) {
      const TensorType& t = b.type(values[i]);
      const Dim n = elements_of(t.shape);
      Var row = b.call(Prim::iota, {Shape{size}, DType::i64, t.device}),
          column = b.call(Prim::iota, {Shape{n}, DType::i64, t.device});
      Var at = expand_to(full(b, {}, static_cast<double>(hint(starts[i])), DType::i64, t.device), column.shape());
      column = expand_to(reshape_to(b.call(Prim::add, {column, at}), Shape{1, n}), Shape{size, n});
      Var one = b.call(Prim::eq, {expand_to(reshape_to(row, Shape{size, 1}), Shape{size, n}), column});
      parts.push_back(reshape_to(convert(one, t.dtype), concat_shapes(Shape{size}, t.shape)));
    }
  }
  // The basis vectors of the i-th value, from results computed for all.
  Var slice_rows(Var all, size_t i, const Shape& shape) const {
    Shape from(all.rank(), 0), to = all.shape();
    from[0] = starts[i], to[0] = starts[i] + elements_of(shape);
    return all.builder->call(Prim::slice, {all, from, to, Shape(all.rank(), 1)});
  }
  std::vector<Dim> starts;
  std::vector<Var> parts;
  Dim size = 0;
};

// The blocks, by result and then by argument.
using Blocks = std::vector<std::vector<ValueId>>;

// Rows: the cotangents of all results' elements at once.
Blocks jacobian_by_vjp(Recorder& recorder, const Trace& trace, const Differentiated& d) {
  recorder.nodes() = trace.nodes;
  const Basis basis(recorder, d.outputs);
  Recorder once(recorder.registry(), trace.store);
  std::vector<Seed> seeds;
  for (ValueId v : d.outputs) seeds.push_back({v, once.var(trace.store->add(trace.type(v)))});
  const std::vector<ValueId> pulled = Backward(once, trace.nodes, true).run(seeds, d.inputs);
  Batching walk(recorder, basis.size, Randomness::same);
  for (size_t i = 0; i < seeds.size(); i++) walk.set(seeds[i].cotangent.id, basis.parts[i]);
  for (const Node* n : once.nodes()) walk.visit(*n);
  Blocks out;
  for (size_t r = 0; r < d.outputs.size(); r++) {
    const Shape& shape = trace.type(d.outputs[r]).shape;
    out.emplace_back();
    for (size_t i = 0; i < d.inputs.size(); i++)
      out.back().push_back(reshape_to(basis.slice_rows(walk.value(pulled[i]), r, shape),
                                      concat_shapes(shape, trace.type(d.inputs[i]).shape))
                               .id);
  }
  return out;
}

// Columns: the tangents of all arguments' elements at once.
Blocks jacobian_by_jvp(Recorder& recorder, const Trace& trace, const Differentiated& d) {
  const Basis basis(recorder, d.inputs);
  Recorder once(recorder.registry(), trace.store);
  Forward derivative(once);
  Batching walk(recorder, basis.size, Randomness::same);
  for (size_t i = 0; i < d.inputs.size(); i++) {
    Var tangent = recorder.var(trace.store->add(trace.type(d.inputs[i])));
    walk.set(tangent.id, basis.parts[i]);
    derivative.set(d.inputs[i], once.var(tangent.id));
  }
  for (const Node* n : trace.nodes) derivative.visit(*n);
  std::vector<ValueId> pushed;
  for (ValueId v : d.outputs) pushed.push_back(derivative.tangent(v).id);
  for (const Node* n : once.nodes()) walk.visit(*n);
  Blocks out;
  for (size_t r = 0; r < d.outputs.size(); r++) {
    const Shape& shape = trace.type(d.outputs[r]).shape;
    Var all = walk.value(pushed[r]);
    out.emplace_back();
    for (size_t i = 0; i < d.inputs.size(); i++) {
      const Shape& by = trace.type(d.inputs[i]).shape;
      Shape order;
      for (size_t k = 0; k < shape.size(); k++) order.push_back(static_cast<int64_t>(k + 1));
      order.push_back(0);
      out.back().push_back(reshape_to(permute_to(basis.slice_rows(all, i, by), order), concat_shapes(shape, by)).id);
    }
  }
  return out;
}

class Jacobian : public Function {
 public:
  Jacobian(Ref<Function> f, Derivative what, bool forwards)
      : Function(cat(forwards ? "jacfwd(" : "jacrev(", f->name(), ")")),
        f_(std::move(f)),
        what_(std::move(what)),
        forwards_(forwards) {}

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    Differentiated d(name(), scope, *f_, in, what_);
    Trace trace = d.inner.trace;
    Recorder recorder(*scope.environment().registry, trace.store);
    const Blocks blocks = (forwards_ ? jacobian_by_jvp : jacobian_by_vjp)(recorder, trace, d);
    trace.nodes = std::move(recorder.nodes());
    std::vector<ValueId> outputs;
    for (const auto& row : blocks) outputs.insert(outputs.end(), row.begin(), row.end());
    const size_t others = trace.outputs.size() - d.outputs.size();
    outputs.insert(outputs.end(), trace.outputs.end() - static_cast<ptrdiff_t>(others), trace.outputs.end());
    trace.outputs = std::move(outputs);
    const std::vector<Tensor*> made = replay_inside(scope, d.inner, std::move(trace), d.given);
    size_t next = 0;
    for (const auto& row : blocks) {
      out.open(false, {});
      for (size_t i = 0; i < row.size(); i++) out.push(Ref<Tensor>(made[next++]));
      out.close();
    }
    while (next < made.size()) out.push(Ref<Tensor>(made[next++]));
    return {};
  }

 private:
  Ref<Function> f_;
  Derivative what_;
  bool forwards_;
};

}  // namespace

Ref<Function> jacobian(Ref<Function> f, Derivative what, bool forwards) {
  return Ref<Function>::adopt(new Jacobian(std::move(f), std::move(what), forwards));
}

Ref<Function> hessian(Ref<Function> f, Derivative what) {
  Derivative outer{what.wrt, false};
  return jacobian(jacobian(std::move(f), std::move(what), false), std::move(outer), true);
}

}  // namespace thunder
