// What the tests of modules share: a context, tensors of floats, modules by kind, functions to compile.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/text.h"
#include "modules/access.h"
#include "modules/checkpoint.h"
#include "modules/clip.h"
#include "modules/lr_scheduler.h"
#include "modules/state.h"
#include "support/functions.h"
#include "tracer/eager.h"

namespace thunder {

using test::any;
using test::Floats;
using test::Lambda;
using test::op;
using Shape64 = std::vector<int64_t>;

inline Floats floats(const Tensor& t) {
  auto dense = Tensor::empty(default_allocator(), t.type());
  copy_strided(t.buffer(), dense->buffer());
  auto* p = reinterpret_cast<const float*>(dense->data());
  return {p, p + t.elements()};
}
inline std::string bytes(const Tensor& t) {
  return {reinterpret_cast<const char*>(t.data()), t.bytes()};
}

struct Modules : test::CompiledTest {
  ModuleEnvironment environment = context->module_environment();

  // A fixed, irregular sequence, so that no test depends on the random ops.
  Ref<Tensor> wave(const Shape64& shape, float phase = 0) {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    Floats data;
    for (int64_t i = 0; i < n; i++)
      data.push_back(std::sin(1.7f * static_cast<float>(i) + phase) + 0.1f * static_cast<float>(i % 5));
    return tensor(shape, data);
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
  using CompiledTest::compile;
  Ref<Compiled> compile(const Ref<Module>& m) { return make<Compiled>(context, module_function(m), by_line().get()); }

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
};

inline void expect_near(const Floats& a, const Floats& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); i++) EXPECT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

}  // namespace thunder
