// Compiled functions of plain lambdas, and tensors of plain numbers, for tests of the whole way.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "jit/call.h"

namespace thunder::test {

class Lambda : public Function {
 public:
  using Body = std::function<void(Scope&, const Values&, Values&)>;
  explicit Lambda(Body body) : Function("f"), body_(std::move(body)) {}
  Ref<Status> call(Scope& s, const Values& in, Values& out) override {
    body_(s, in, out);
    return {};
  }

 private:
  Body body_;
};

inline Any any(Tensor* t) { return Any::tensor(t); }
inline Tensor* op(Scope& s, std::string_view name, std::vector<Any> args) {
  return s.invoke(name, args, nullptr, nullptr, 0, "here:1");
}

using Floats = std::vector<float>;

struct CompiledTest : testing::Test {
  Ref<Context> context = make<Context>(ContextHooks{});
  std::string error;  // of the last call that failed

  Ref<Tensor> tensor(std::vector<int64_t> shape, Floats data) {
    TensorType t;
    t.dtype = DType::f32;
    for (int64_t n : shape) t.shape.push_back(n);
    auto out = Tensor::empty(context->allocator(), t);
    std::copy(data.begin(), data.end(), reinterpret_cast<float*>(out->data()));
    return out;
  }
  Ref<Tensor> indices(std::vector<int64_t> data) {
    TensorType t;
    t.dtype = DType::i64;
    t.shape = {data.size()};
    auto out = Tensor::empty(context->allocator(), t);
    std::copy(data.begin(), data.end(), reinterpret_cast<int64_t*>(out->data()));
    return out;
  }
  static Floats data(const Tensor& t) {
    auto* p = reinterpret_cast<const float*>(t.data());
    return Floats(p, p + t.elements());
  }
  Ref<Compiled> compile(Lambda::Body body, const CompileOptions* options = nullptr) {
    return make<Compiled>(context, Ref<Function>::adopt(new Lambda(std::move(body))), options);
  }
  // The first result; empty after an error.
  Floats run(Compiled& f, std::vector<Tensor*> in) {
    Tensor* out = nullptr;
    if (Status* failed = f.call_tensors(in.data(), in.size(), &out, 1)) {
      error = failed->message();
      failed->release();
      return {};
    }
    Floats result = data(*out);
    out->release();
    return result;
  }
};

}  // namespace thunder::test
