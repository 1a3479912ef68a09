#include "modules/optimizers/joint.h"

#include "base/text.h"
#include "tensor/transfer.h"

namespace thunder {

template <class Formula>
Ref<Tensor> VectorMath::run(const Formula& formula) {
  Ref<Tensor> made;
  scope_.run_formulas([&] { made = scope_.builder().tensor(formula().id); });
  if (scope_.status()) throw Error(scope_.status());
  return made;
}

double VectorMath::number(const Ref<Tensor>& a) {
  double value = 0;
  read_elements(*run([&] { return convert(var(a), DType::f64); }), &value);
  return value;
}

double VectorMath::dot(const Ref<Tensor>& a, const Ref<Tensor>& b) {
  return number(run([&] { return var(a).builder->call("dot", {var(a), var(b)}); }));
}

double VectorMath::largest(const Ref<Tensor>& a) {
  if (a->elements() == 0) return 0;
  return number(run([&] {
    Builder& b = scope_.builder();
    return b.call("amax", {b.call("abs", {var(a)})});
  }));
}

double VectorMath::sum_of_absolutes(const Ref<Tensor>& a) {
  return number(run([&] {
    Builder& b = scope_.builder();
    return b.call("sum", {b.call("abs", {var(a)})});
  }));
}

Ref<Tensor> VectorMath::scaled(const Ref<Tensor>& a, double factor) {
  return run([&] { return var(a) * factor; });
}

Ref<Tensor> VectorMath::sum(const Ref<Tensor>& a, double factor, const Ref<Tensor>& b) {
  return run([&] { return var(a) + var(b) * factor; });
}

Ref<Tensor> VectorMath::joined(std::span<const Ref<Tensor>> tensors, DType dtype) {
  return run([&] {
    ValueList all;
    for (auto& t : tensors) all.push_back(reshape_to(convert(var(t), dtype), Shape{t->elements()}).id);
    Var vector = scope_.builder().call("cat", {all, 0});
    // The cat of one tensor may be that tensor itself, which is written elsewhere.
    return tensors.size() == 1 ? scope_.builder().call("clone", {vector}) : vector;
  });
}

Ref<Tensor> VectorMath::part(const Ref<Tensor>& a, int64_t first, int64_t count, const TensorType& type) {
  return run([&] {
    Var elements = scope_.builder().call("slice", {var(a), 0, first, first + count, 1});
    return convert(reshape_to(elements, type.shape), type.dtype);
  });
}

Ref<Tensor> VectorMath::row(const Ref<Tensor>& matrix, int64_t index) {
  return run([&] { return scope_.builder().call("select", {var(matrix), 0, index}); });
}

void VectorMath::write(const Ref<Tensor>& to, const Ref<Tensor>& from) {
  scope_.run_formulas([&] { scope_.write(to.get(), scope_.enter(from.get())); });
  if (scope_.status()) throw Error(scope_.status());
}

JointStep::Point JointStep::evaluate(const Ref<Tensor>& x, double step, const Ref<Tensor>& direction) {
  set_parameters(math.sum(x, step, direction));
  try {
    return evaluate();
  } catch (...) {
    set_parameters(x);
    throw;
  }
}

void JointStep::set_parameters(const Ref<Tensor>& vector) {
  int64_t first = 0;
  for (const Ref<Tensor>& parameter : parameters_) {
    math.write(parameter, math.part(vector, first, parameter->elements(), parameter->type()));
    first += parameter->elements();
  }
}

double* JointStep::numbers(std::string_view name, int64_t count) const {
  const Ref<Tensor>& t = tensor(name);
  const TensorType& type = t->type();
  require(type.dtype == DType::f64 && type.device == Device::cpu && t->contiguous() && t->elements() == count, "'",
          name, "' of the optimizer's state must be ", count, " numbers of f64, is ", thunder::name(type));
  return reinterpret_cast<double*>(t->data());
}

const Ref<Tensor>& JointStep::tensor(std::string_view name) const {
  const Module::NamedSlot* slot = state_.find_tensor(name);
  ensure(slot != nullptr, "an optimizer's state has no '", name, "'");
  return slot->tensor;
}

TensorType joint_type(std::string_view who, std::span<const std::string> names,
                      std::span<const Ref<Tensor>> parameters) {
  TensorType type;
  type.dtype = DType::f32, type.device = parameters[0]->type().device;
  int64_t elements = 0;
  for (size_t i = 0; i < parameters.size(); i++) {
    const TensorType& one = parameters[i]->type();
    require(one.device == type.device, who, ": its parameters must be on one device, but '", names[0], "' is ",
            name(parameters[0]->type()), " and '", names[i], "' ", name(one));
    if (one.dtype == DType::f64) type.dtype = DType::f64;
    elements += parameters[i]->elements();
  }
  type.shape = Shape{elements};
  return type;
}

}  // namespace thunder
