// Gradients against central differences, in f64.
#pragma once

#include <cmath>
#include <functional>

#include "support/eager.h"

namespace thunder {

struct Numbers {
  std::vector<int64_t> shape;
  Doubles values;
};

// Numbers that look random and are the same on every machine.
inline Numbers numbers(std::vector<int64_t> shape, uint64_t seed = 1, double low = -1, double high = 1) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  Numbers out{std::move(shape), Doubles(static_cast<size_t>(n))};
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (double& v : out.values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = low + (high - low) * static_cast<double>(state >> 11) / 9007199254740992.0;
  }
  return out;
}

using EagerFunction = std::function<Tensor*(Eager&, const std::vector<Tensor*>&)>;

inline std::vector<Tensor*> tensors(Eager& e, const std::vector<Numbers>& inputs) {
  std::vector<Tensor*> out;
  for (const Numbers& n : inputs) out.push_back(e.tensor(n.shape, n.values, DType::f64));
  return out;
}

// sum(t * weights) with weights of t's shape: no element's gradient is like another's.
inline Tensor* weighted_sum(Eager& e, Tensor* t, uint64_t seed) {
  std::vector<int64_t> shape(t->sizes(), t->sizes() + t->type().rank());
  Tensor* weights = e.tensor(shape, numbers(shape, seed).values, DType::f64);
  return e.run("prims.sum", {any(e.run("mul", {any(t), any(weights)})), any(std::vector<int64_t>{})});
}

// d(loss)/d(inputs) by the tape against central differences of `loss`, which gives a 0-d tensor.
inline void expect_loss_gradients(const std::vector<Numbers>& inputs, const EagerFunction& loss, double tolerance) {
  Eager taped(true);
  std::vector<Tensor*> leaves = tensors(taped, inputs);
  Tensor* at = loss(taped, leaves);
  Values wrt;
  for (Tensor* t : leaves) wrt.push(Ref<Tensor>(t));
  Values* found = taped.scope().grad(at, wrt);
  ASSERT_FALSE(taped.scope().status()) << taped.scope().status()->message();
  Eager e(true);
  for (size_t i = 0; i < inputs.size(); i++) {
    const Doubles gradient = values((*found)[i].tensor.get());
    ASSERT_EQ(gradient.size(), inputs[i].values.size());
    for (size_t j = 0; j < gradient.size(); j++) {
      const double step = 1e-5;
      auto moved = [&](double by) {
        auto near = inputs;
        near[i].values[j] += by;
        const double out = values(loss(e, tensors(e, near)))[0];
        e.scope().reset();
        return out;
      };
      const double expected = (moved(step) - moved(-step)) / (2 * step);
      EXPECT_NEAR(gradient[j], expected, tolerance * std::max(1.0, std::abs(expected))) << "input " << i << ", element " << j;
    }
  }
}

// The gradients of f's result, whatever its shape.
inline void expect_gradients(const std::vector<Numbers>& inputs, const EagerFunction& f, double tolerance = 1e-7) {
  expect_loss_gradients(inputs, [&](Eager& e, const std::vector<Tensor*>& x) { return weighted_sum(e, f(e, x), 7); }, tolerance);
}

// The gradients of the gradients.
inline void expect_second_gradients(const std::vector<Numbers>& inputs, const EagerFunction& f, double tolerance = 1e-6) {
  auto loss = [&](Eager& e, const std::vector<Tensor*>& x) {
    Values wrt;
    for (Tensor* t : x) wrt.push(Ref<Tensor>(t));
    Values* first = e.scope().grad(weighted_sum(e, f(e, x), 7), wrt);
    Tensor* sum = nullptr;
    for (size_t i = 0; i < first->size(); i++) {
      Tensor* part = weighted_sum(e, (*first)[i].tensor.get(), 11 + i);
      sum = sum ? e.run("add", {any(sum), any(part)}) : part;
    }
    return sum;
  };
  expect_loss_gradients(inputs, loss, tolerance);
}

}  // namespace thunder
