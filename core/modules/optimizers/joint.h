// Steps over all parameters as one vector, by rules that evaluate the loss as often as they need.
#pragma once

#include <functional>

#include "modules/optimizer.h"
#include "tracer/eager.h"

namespace thunder {

// Arithmetic of real vectors on any device. Each result is a tensor of its own.
class VectorMath {
 public:
  explicit VectorMath(const ScopeEnvironment& environment) : scope_(environment, false) {}

  double dot(const Ref<Tensor>& a, const Ref<Tensor>& b);
  // The maximum absolute value; 0 if there are no elements.
  double largest(const Ref<Tensor>& a);
  double sum_of_absolutes(const Ref<Tensor>& a);
  Ref<Tensor> scaled(const Ref<Tensor>& a, double factor);
  // a + factor * b
  Ref<Tensor> sum(const Ref<Tensor>& a, double factor, const Ref<Tensor>& b);
  // The elements of all of them, one after the other, of this dtype.
  Ref<Tensor> joined(std::span<const Ref<Tensor>> tensors, DType dtype);
  // `count` elements from `first` on, of this shape and dtype.
  Ref<Tensor> part(const Ref<Tensor>& a, int64_t first, int64_t count, const TensorType& type);
  // A view of one row.
  Ref<Tensor> row(const Ref<Tensor>& matrix, int64_t index);
  // Writes into the memory of `to`.
  void write(const Ref<Tensor>& to, const Ref<Tensor>& from);
  // The number in a tensor of one element.
  double number(const Ref<Tensor>& a);

 private:
  template <class Formula>
  Ref<Tensor> run(const Formula& formula);
  Var var(const Ref<Tensor>& a) { return scope_.builder().var(scope_.enter(a.get())); }
  EagerScope scope_;
};

// The inputs of one step of a joint rule.
class JointStep {
 public:
  struct Point {
    double loss = 0;
    Ref<Tensor> gradient;  // a vector of its own
  };
  using Evaluate = std::function<Point(JointStep&)>;
  // `vector`: the type of all parameters as one vector.
  JointStep(const ScopeEnvironment& environment, const Settings& settings, double lr, Module& state,
            std::span<const Ref<Tensor>> parameters, const TensorType& vector, Evaluate evaluate)
      : settings(settings),
        lr(lr),
        math(environment),
        state_(state),
        parameters_(parameters),
        vector_(vector),
        evaluate_(std::move(evaluate)) {}

  const Settings& settings;
  const double lr;
  VectorMath math;

  // Evaluates the loss at the current parameters.
  Point evaluate() { return evaluate_(*this); }
  // Evaluates the loss at x + step * direction, where the parameters stay; at x again when this throws.
  Point evaluate(const Ref<Tensor>& x, double step, const Ref<Tensor>& direction);
  // The parameters as a new vector.
  Ref<Tensor> parameters() { return math.joined(parameters_, vector_.dtype); }
  void set_parameters(const Ref<Tensor>& vector);
  const TensorType& vector_type() const { return vector_; }

  // Reads and writes the optimizer's state: numbers of f64, and any tensor.
  double* numbers(std::string_view name, int64_t count) const;
  double& number(std::string_view name) const { return *numbers(name, 1); }
  const Ref<Tensor>& tensor(std::string_view name) const;

 private:
  Module& state_;
  std::span<const Ref<Tensor>> parameters_;
  TensorType vector_;
  Evaluate evaluate_;
};

// The type of all these tensors as one vector: of f64 if one of them is, else of f32. Throws unless they are on one
// device.
TensorType joint_type(std::string_view who, std::span<const std::string> names,
                      std::span<const Ref<Tensor>> parameters);

}  // namespace thunder
