// What the tests of modules share: a context, tensors of floats, modules by kind, functions to compile.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/text.h"
#include "jit/call.h"
#include "modules/access.h"
#include "modules/checkpoint.h"
#include "modules/clip.h"
#include "modules/schedule.h"
#include "modules/state.h"
#include "tracer/eager.h"

namespace thunder {

using Floats = std::vector<float>;
using Shape64 = std::vector<int64_t>;

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

inline Tensor* op(Scope& s, std::string_view name, std::vector<Any> args) {
  return s.invoke(name, args, nullptr, nullptr, 0, nullptr);
}
inline Any any(Tensor* t) {
  return Any::tensor(t);
}
inline Any any(const Ref<Tensor>& t) {
  return Any::tensor(t.get());
}

inline Floats floats(const Tensor& t) {
  auto dense = Tensor::empty(default_allocator(), t.type());
  copy_strided(t.buffer(), dense->buffer());
  auto* p = reinterpret_cast<const float*>(dense->data());
  return {p, p + t.elements()};
}
inline std::string bytes(const Tensor& t) {
  return {reinterpret_cast<const char*>(t.data()), t.bytes()};
}

struct Modules : testing::Test {
  Ref<Context> context = make<Context>(ContextHooks{});
  ModuleEnvironment environment = context->module_environment();

  Ref<Tensor> tensor(const Shape64& shape, const Floats& data) {
    TensorType t;
    t.dtype = DType::f32;
    for (int64_t n : shape) t.shape.push_back(n);
    auto out = Tensor::empty(context->allocator(), t);
    EXPECT_EQ(static_cast<size_t>(out->elements()), data.size());
    std::copy(data.begin(), data.end(), reinterpret_cast<float*>(out->data()));
    return out;
  }
  // A fixed, irregular sequence, so that no test depends on the random ops.
  Ref<Tensor> wave(const Shape64& shape, float phase = 0) {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    Floats data;
    for (int64_t i = 0; i < n; i++)
      data.push_back(std::sin(1.7f * static_cast<float>(i) + phase) + 0.1f * static_cast<float>(i % 5));
    return tensor(shape, data);
  }
  Ref<Tensor> integers(const Shape64& shape, const std::vector<int64_t>& data) {
    TensorType t;
    t.dtype = DType::i64;
    for (int64_t n : shape) t.shape.push_back(n);
    auto out = Tensor::empty(context->allocator(), t);
    std::copy(data.begin(), data.end(), reinterpret_cast<int64_t*>(out->data()));
    return out;
  }
  void seed(int64_t value) {
    auto* state = reinterpret_cast<int64_t*>(context->random()->data());
    state[0] = value, state[1] = 0;
  }
  Ref<Module> module(std::string_view kind, std::vector<Any> args = {}) { return make_module(environment, kind, args); }
  Ref<Module> sequential(std::vector<Ref<Module>> layers) {
    auto net = module("Sequential");
    for (size_t i = 0; i < layers.size(); i++) net->add(cat(i), layers[i]);
    return net;
  }
  Ref<Compiled> compile(Lambda::Body body) {
    return make<Compiled>(context, Ref<Function>::adopt(new Lambda(std::move(body))), nullptr);
  }
  Ref<Compiled> compile(const Ref<Module>& m) { return make<Compiled>(context, module_function(m), nullptr); }

  // The first result of a compiled function; null, with `error` set, when it fails.
  Ref<Tensor> run(Compiled& f, std::vector<Ref<Tensor>> in) {
    std::vector<Tensor*> pointers;
    for (auto& t : in) pointers.push_back(t.get());
    Tensor* out = nullptr;
    Ref<Status> failed = Ref<Status>::adopt(f.call_tensors(pointers.data(), pointers.size(), &out, 1));
    error = failed ? failed->message() : "";
    EXPECT_EQ(error, "");
    return Ref<Tensor>::adopt(out);
  }
  // The first result of `body`, eagerly.
  Ref<Tensor> eager(const Lambda::Body& body, std::vector<Ref<Tensor>> in, bool taped = false) {
    EagerScope scope(context->scope_environment(), taped);
    Values given, out;
    for (auto& t : in) given.push(t);
    body(scope, given, out);
    error = scope.status() ? scope.status()->message() : "";
    Ref<Tensor> result = error.empty() && out.size() ? out[0].tensor : nullptr;
    scope.reset();
    return result;
  }
  Ref<Tensor> eager(const Ref<Module>& m, std::vector<Ref<Tensor>> in) {
    return eager([&](Scope& s, const Values& given, Values& out) { out.assign(*module_call(s, *m, given)); },
                 std::move(in));
  }
  // What `body` throws, as text; empty when it does not.
  static std::string thrown(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  }
  std::string error;
};

inline void expect_near(const Floats& a, const Floats& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); i++) EXPECT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

}  // namespace thunder
