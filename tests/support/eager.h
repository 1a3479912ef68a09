// An eager scope over the reference kernels, for tests that state values by hand.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "ops/kernels.h"
#include "ops/widened.h"
#include "tracer/eager.h"

namespace thunder {

class Eager {
 public:
  explicit Eager(bool taped = false) : random_(state()), scope_({&registry_, default_allocator(), &runner_, nullptr, random_}, taped) {}

  // A dense tensor of plain numbers, converted to the dtype.
  Tensor* tensor(std::vector<int64_t> shape, const std::vector<double>& values, DType dtype = DType::f32) {
    TensorType type;
    type.dtype = dtype;
    for (int64_t n : shape) type.shape.push_back(n);
    auto t = Tensor::empty(default_allocator(), type);
    EXPECT_EQ(static_cast<size_t>(t->elements()), values.size());
    by_element(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (size_t i = 0; i < values.size(); i++) reinterpret_cast<T*>(t->data())[i] = converted<T>(values[i]);
    });
    kept_.push_back(t);
    return t.get();
  }
  Tensor* scalar(double v, DType dtype = DType::f32) { return tensor({}, {v}, dtype); }

  Tensor* run(std::string_view op, std::initializer_list<Any> args) {
    return scope_.invoke(op, {args.begin(), args.size()}, nullptr, nullptr, 0, nullptr);
  }
  // The message of the error that these arguments meet, and a clean scope after it.
  std::string refused(std::string_view op, std::initializer_list<Any> args) {
    run(op, args);
    std::string message = scope_.status() ? scope_.status()->message() : "";
    scope_.reset();
    return message;
  }
  std::vector<Tensor*> grad(Tensor* loss, std::initializer_list<Tensor*> wrt) {
    Values leaves;
    for (Tensor* t : wrt) leaves.push(Ref<Tensor>(t));
    Values* out = scope_.grad(loss, leaves);
    std::vector<Tensor*> result;
    for (size_t i = 0; i < out->size(); i++) result.push_back((*out)[i].tensor.get());
    return result;
  }
  Scope& scope() { return scope_; }
  Tensor* random() { return random_.get(); }
  const Registry& registry() const { return registry_; }

 private:
  struct Runner : OpRunner {
    Status* run(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in, std::span<const Buffer> out) override {
      return run_reference(op, {in, out, args});
    }
  };
  static Ref<Tensor> state() {
    TensorType type;
    type.dtype = DType::i64;
    type.shape = {2};
    auto t = Tensor::empty(default_allocator(), type);
    reinterpret_cast<int64_t*>(t->data())[0] = reinterpret_cast<int64_t*>(t->data())[1] = 0;
    return t;
  }

  Registry registry_;
  Runner runner_;
  Ref<Tensor> random_;
  EagerScope scope_;
  std::vector<Ref<Tensor>> kept_;
};

// Elements in row-major order as doubles, whatever the dtype and strides.
inline std::vector<double> values(const Tensor* t) {
  if (t->kind() == Tensor::Kind::failed) {
    ADD_FAILURE() << t->failure()->message();
    return {};
  }
  auto dense = Tensor::empty(default_allocator(), t->type());
  copy_strided(t->buffer(), dense->buffer());
  std::vector<double> out;
  by_element(t->type().dtype, [&](auto zero) {
    for (int64_t i = 0; i < dense->elements(); i++)
      out.push_back(as_double(reinterpret_cast<const decltype(zero)*>(dense->data()) + i));
  });
  return out;
}
inline std::string type(const Tensor* t) { return name(t->type()); }
inline Any any(Tensor* t) { return Any::tensor(t); }
inline Any any(double v) { return Any::real(v); }
inline Any any(int v) { return Any::integer(v); }
inline Any any(bool v) { return Any::boolean(v); }
inline Any any(const char* v) { return Any::string(v); }
inline Any any(DType d) {
  Any a;
  a.kind = ArgKind::dtype, a.i = 0, a.dtype = d;
  return a;
}
inline Any any(const std::vector<int64_t>& d) { return Any::dims(d); }

using Doubles = std::vector<double>;

}  // namespace thunder
