// Compiled functions of plain lambdas, and tensors of plain numbers, for tests of the whole way.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "jit/call.h"
#include "support/context.h"
#include "support/noise.h"

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
inline Any any(const Ref<Tensor>& t) { return Any::tensor(t.get()); }
inline Tensor* op(Scope& s, std::string_view name, std::vector<Any> args) {
  return s.invoke(name, args, nullptr, nullptr, 0, "here:1");
}

using Floats = std::vector<float>;

struct CompiledTest : testing::Test {
  Ref<Context> context = seeded_context();
  std::string error;  // of the last call that failed

  Ref<Tensor> tensor(const std::vector<int64_t>& shape, const Floats& data) { return filled(DType::f32, shape, data); }
  Ref<Tensor> random(const std::vector<int64_t>& shape, uint32_t seed, float low = -1, float high = 1) {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    return tensor(shape, noise(n, seed, low, high));
  }
  Ref<Tensor> integers(const std::vector<int64_t>& shape, const std::vector<int64_t>& data) {
    return filled(DType::i64, shape, data);
  }
  static Floats data(const Tensor& t) {
    auto* p = reinterpret_cast<const float*>(t.data());
    return Floats(p, p + t.elements());
  }
  // With these executors, and the host; none named: all of them.
  static Ref<CompileOptions> only(std::string_view executors) {
    auto options = make<CompileOptions>();
    options->set("executors", Any::string(executors));
    return options;
  }
  // Without fusion: line by line, which gives the bits of eager ops.
  Ref<CompileOptions> by_line() const {
    std::string names;
    for (const std::string& name : context->executor_names())
      if (name != "fusion") names += cat(names.empty() ? "" : ",", name);
    return only(names);
  }
  // Without options: line by line.
  Ref<Compiled> compile(Lambda::Body body, const CompileOptions* options = nullptr) {
    return make<Compiled>(context, Ref<Function>::adopt(new Lambda(std::move(body))), options ? options : by_line().get());
  }
  // Who runs the first line of this op.
  static std::string executor_of(const Compiled& f, std::string_view op) {
    const std::vector<Trace> traces = f.reports().traces();
    for (const Node* n : traces.back().nodes)
      if (n->op->name() == op) return n->executor;
    return "none";
  }
  // How many lines, or lines of this op, an executor runs.
  static int lines_of(const Compiled& f, std::string_view executor, std::string_view op = {}) {
    int count = 0;
    const std::vector<Trace> traces = f.reports().traces();
    for (const Node* n : traces.back().nodes) count += n->executor == executor && (op.empty() || n->op->name() == op);
    return count;
  }
  // The first result; null after an error.
  Ref<Tensor> result(Compiled& f, std::vector<Tensor*> in) {
    Tensor* out = nullptr;
    if (Status* failed = f.call_tensors(in.data(), in.size(), &out, 1)) {
      error = failed->message();
      failed->release();
      return {};
    }
    return Ref<Tensor>::adopt(out);
  }
  Floats run(Compiled& f, std::vector<Tensor*> in) {
    const Ref<Tensor> out = result(f, std::move(in));
    return out ? data(*out) : Floats();
  }

 private:
  template <class T>
  Ref<Tensor> filled(DType dtype, const std::vector<int64_t>& shape, const std::vector<T>& data) {
    TensorType t;
    t.dtype = dtype;
    for (int64_t n : shape) t.shape.push_back(n);
    auto out = Tensor::empty(context->allocator(), t);
    EXPECT_EQ(static_cast<size_t>(out->elements()), data.size());
    std::copy(data.begin(), data.end(), reinterpret_cast<T*>(out->data()));
    return out;
  }
};

}  // namespace thunder::test
