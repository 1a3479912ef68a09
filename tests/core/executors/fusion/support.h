// Lines by hand and what becomes of them; whole functions run fused and by the host alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <random>

#include "base/text.h"
#include "core/loops/cpu/scheduled.h"
#include "core/loops/elsewhere.h"
#include "executors/fusion/explain.h"
#include "executors/fusion/fusion.h"
#include "executors/fusion/group.h"
#include "executors/fusion/lower.h"
#include "executors/host/host.h"
#include "ir/prim.h"
#include "ir/print.h"
#include "loops/cpu/target.h"
#include "loops/kernels.h"
#include "loops/order.h"
#include "ops/kernels.h"
#include "ops/place_view.h"
#include "support/functions.h"
#include "support/machines.h"
#include "support/regions.h"
#include "support/traces.h"
#include "tracer/compile_settings.h"

namespace thunder::fusion {

// The CPU at hand, as the only target.
inline const Targets& targets() {
  static const Targets all = [] {
    Targets made;
    made.add(cpu_target(test::this_machine()));
    return made;
  }();
  return all;
}
inline const Capabilities& capabilities() { return targets().find(Device::cpu)->capabilities(); }

// A line or a region lowered for inputs of these strides, in order; dense ones where none are given.
inline LoweredRegion lowered(const Node& node, const Store& store,
                             const std::vector<std::vector<int64_t>>& strides = {}) {
  std::deque<std::vector<int64_t>> kept;
  std::vector<Buffer> inputs, outputs;
  const auto add = [&](std::vector<Buffer>& to, ValueId v, const std::vector<int64_t>* given) {
    const TensorType& type = store.type(v);
    const auto sizes = concrete(type.shape), dense = dense_strides(type.shape);
    Buffer b;
    b.shape = kept.emplace_back(sizes.begin(), sizes.end()).data();
    b.strides = given ? kept.emplace_back(*given).data() : kept.emplace_back(dense.begin(), dense.end()).data();
    b.rank = static_cast<int32_t>(sizes.size()), b.dtype = type.dtype;
    to.push_back(b);
  };
  for_each_value(node.args, [&](ValueId v) {
    add(inputs, v, inputs.size() < strides.size() ? &strides[inputs.size()] : nullptr);
  });
  for (ValueId v : node.results) add(outputs, v, nullptr);
  Group group(store, capabilities());
  EXPECT_TRUE(group.add_all(nodes_of(node))) << group.rejection_reason();
  return lower({node, store, default_settings(), inputs, outputs}, group);
}

// Lines of prims, grouped, claimed and lowered without running anything.
struct LinesTest : testing::Test {
  tests::TraceMaker maker;

  Var input(std::initializer_list<Dim> shape, DType dtype = DType::f32) { return maker.input("x", shape, dtype); }
  Var prim(std::string_view op, std::initializer_list<In> args) { return maker.call(op, args); }
  const Store& store() { return maker.recorder.store(); }
  std::vector<const Node*>& lines() { return maker.recorder.nodes(); }

  // Why the lines so far are no group: the first reason; empty when they are one.
  std::string refusal() {
    Group group(store(), capabilities());
    for (const Node* line : lines())
      if (!is_computable(*line, store(), capabilities())) return "not computable";
      else if (!group.add(*line)) return std::string(group.rejection_reason());
    return "";
  }
  Trace claim_lines(std::initializer_list<Var> outputs) {
    const Executors executors = {make<Executor>(fusion_executor(targets())), make<Executor>(host_executor())};
    RegionStates states;
    return test::in_regions(maker.finish(outputs), executors, maker.registry.get("region"), states);
  }
  // Of the one kernel that lines become.
  CpuNest nest(std::initializer_list<Var> outputs) {
    const Trace trace = claim_lines(outputs);
    for (const Node* n : trace.nodes)
      if (n->executor == std::string_view("fusion") && !def(*n).view) return scheduled(lowered(*n, store()));
    ADD_FAILURE() << "nothing is fused";
    return {};
  }
  // Of inputs of this type; nothing where the function does not take it.
  std::optional<Var> function_of(const PrimRow& row, DType d) {
    std::vector<Var> operands;
    for (const Param& p : maker.registry.get(row.prim).schema.params)
      if (p.kind == ParamKind::tensor) operands.push_back(input({7, 9}, d));
    std::optional<Var> made;
    try {
      made = operands.size() == 1 ? prim(name(row.prim), {operands[0]}) : prim(name(row.prim), {operands[0], operands[1]});
    } catch (const Error&) {
      return {};
    }
    return is_computable(*lines().back(), store(), capabilities()) ? made : std::nullopt;
  }
  // The claimed lines: names without "prims.", those of one kernel in brackets.
  std::string claimed(std::initializer_list<Var> outputs) {
    std::string text;
    for (const Trace trace = claim_lines(outputs); const Node* n : trace.nodes) {
      text += text.empty() ? "" : " ";
      if (n->body.empty()) text += n->op->name().substr(6);
      else text += "[" + join(n->body, " ", [](const Node* line) { return line->op->name().substr(6); }) + "]";
    }
    return text;
  }
};

// Parameters of tests that compute every elementwise function in every type.
inline auto every_function_and_dtype() {
  std::vector<PrimRow> rows;
  for (const PrimRow& row : prim_rows())
    if (row.role == Role::elementwise && row.fn != Fn::convert && row.fn != Fn::where) rows.push_back(row);
  return testing::Combine(testing::ValuesIn(rows), testing::Values(DType::f32, DType::f64, DType::bf16, DType::i32,
                                                                   DType::i64, DType::u8, DType::boolean));
}
inline std::string name_of_function_and_dtype(const testing::TestParamInfo<std::tuple<PrimRow, DType>>& info) {
  return cat(name(std::get<0>(info.param).fn), "_", name(std::get<1>(info.param)));
}

// Whole functions, compiled with and without the fusion executor.
struct FusedTest : test::CompiledTest {
  using Tensors = std::vector<Ref<Tensor>>;
  using Body = std::function<std::vector<Tensor*>(Scope&, std::span<Tensor* const>)>;
  struct Outcome {
    std::vector<std::vector<double>> results, inputs;  // after the call
    std::string error;
    size_t kernels = 0;                                // that fused lines became
    std::string text;                                  // the claimed trace, and why neighbours in it were not fused
  };

  void SetUp() override {
    std::string why;
    if (!can_compile(&why)) GTEST_SKIP() << why;
  }

  // Numbers between low and high that are the same on every machine; whole for integers.
  Ref<Tensor> numbers(const std::vector<int64_t>& shape, DType dtype = DType::f32, double low = -2, double high = 2) {
    TensorType type;
    type.dtype = dtype;
    type.shape.assign(shape.begin(), shape.end());
    auto t = Tensor::empty(context->allocator(), type);
    by_element(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < t->elements(); i++) {
        double v = low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
        if (!is_real(dtype)) v = std::floor(v);
        reinterpret_cast<T*>(t->data())[i] = converted<T>(v);
      }
    });
    return t;
  }
  static std::vector<double> values(const Tensor& t) {
    auto dense = Tensor::empty(default_allocator(), t.type());
    copy_strided(t.buffer(), dense->buffer());
    std::vector<double> out;
    by_element(t.type().dtype, [&](auto zero) {
      for (int64_t i = 0; i < dense->elements(); i++)
        out.push_back(as_double(reinterpret_cast<const decltype(zero)*>(dense->data()) + i));
    });
    return out;
  }
  static Ref<Tensor> copy(const Tensor& t) {
    auto out = Tensor::empty(default_allocator(), t.type());
    copy_strided(t.buffer(), out->buffer());
    return out;
  }

  static test::Lambda::Body lambda(const Body& body) {
    return [body](Scope& s, const Values& values, Values& out) {
      std::vector<Tensor*> tensors;
      for (size_t i = 0; i < values.size(); i++) tensors.push_back(values[i].tensor.get());
      for (Tensor* t : body(s, tensors)) out.push(Any::tensor(t));
    };
  }
  // The strides of each value as the memory plan has them: views of views, all else dense.
  static std::vector<std::vector<int64_t>> strides_of(const Trace& trace) {
    std::vector<std::vector<int64_t>> strides(trace.store->size());
    const auto dense = [&](ValueId v) {
      const Sizes s = dense_strides(trace.type(v).shape);
      strides[v].assign(s.begin(), s.end());
    };
    for (const Input& in : trace.inputs) dense(in.value);
    for (const Node* n : trace.nodes) {
      for (ValueId r : n->results) dense(r);
      if (!def(*n).view) continue;
      ViewOf view{Sizes(strides[n->args[0].v].begin(), strides[n->args[0].v].end())};
      if (place_view(def(*n), concrete(trace.type(n->args[0].v).shape), n->args,
                     concrete(trace.type(n->results[0]).shape), view))
        strides[n->results[0]].assign(view.strides.begin(), view.strides.end());
    }
    return strides;
  }
  // What a function becomes, claimed by fusion; it is not run.
  Trace traced(const Body& body, const Tensors& in) {
    auto f = compile(lambda(body), only("fusion").get());
    thunder::Values given;
    for (auto& t : in) given.push(Any::tensor(t.get()));
    if (Status* failed = f->prepare(given)) throw Error(Ref<Status>::adopt(failed));
    return f->reports().traces().back();
  }
  std::vector<CpuNest> nests_of(const Body& body, const Tensors& in) { return nests(traced(body, in)); }
  // Of a trace's kernels.
  static std::vector<CpuNest> nests(const Trace& trace, const Machine& machine = test::this_machine(),
                                    std::string_view last = "keep") {
    const auto strides = strides_of(trace);
    std::vector<CpuNest> out;
    for (const Node* n : trace.nodes) {
      if (n->executor != std::string_view("fusion") || def(*n).view) continue;
      std::vector<std::vector<int64_t>> inputs;
      for_each_value(n->args, [&](ValueId v) { inputs.push_back(strides[v]); });
      out.push_back(scheduled(lowered(*n, *trace.store, inputs), machine, last));
    }
    return out;
  }

  Outcome outcome(const Body& body, const Tensors& in, size_t n_results, std::string_view executors) {
    auto options = only(executors);
    options->set("verify", Any::boolean(true));
    std::fill_n(reinterpret_cast<int64_t*>(context->random()->data()), 2, 7);
    auto f = compile(lambda(body), options.get());
    std::vector<Tensor*> given, results(n_results);
    for (auto& t : in) given.push_back(t.get());
    Outcome made;
    if (Status* failed = f->call_tensors(given.data(), given.size(), results.data(), n_results)) {
      made.error = failed->message();
      failed->release();
      results.clear();
    }
    for (Tensor* t : results) {
      made.results.push_back(values(*t));
      t->release();
    }
    for (auto& t : in) made.inputs.push_back(values(*t));
    const auto traces = f->reports().traces();
    if (!traces.empty()) made.text = print(traces.back()) + explain(traces.back(), targets());
    if (!traces.empty())
      for (const CpuNest& nest : nests(traces.back())) {
        made.kernels++;
        expect_emitted_elsewhere(nest);
      }
    return made;
  }
  // Both executors leave the same, to `tolerance` relative to the largest number of a result. Gives the fused outcome.
  Outcome agree(const Body& body, const Tensors& in, size_t n_results, double tolerance = 4e-6) {
    Tensors again;
    for (auto& t : in) again.push_back(copy(*t));
    const Outcome expected = outcome(body, again, n_results, "host"), got = outcome(body, in, n_results, "fusion");
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(expected.error, "");
    compare(got.results, expected.results, tolerance, "result ");
    compare(got.inputs, expected.inputs, tolerance, "input ");
    return got;
  }

 private:
  static void compare(const std::vector<std::vector<double>>& got, const std::vector<std::vector<double>>& expected,
                      double tolerance, const char* what) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t r = 0; r < got.size(); r++) {
      ASSERT_EQ(got[r].size(), expected[r].size()) << what << r;
      double largest = 0;
      for (double v : expected[r])
        if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
      for (size_t i = 0; i < got[r].size(); i++) {
        const double a = got[r][i], b = expected[r][i];
        if (a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tolerance * largest) continue;
        ADD_FAILURE() << what << r << " element " << i << " is " << a << ", expected " << b;
        return;
      }
    }
  }
  std::mt19937_64 random_{1};
};

// Short names for the bodies of functions.
inline Tensor* call(Scope& s, std::string_view op, std::vector<Any> args) { return test::op(s, op, std::move(args)); }
inline Any arg(Tensor* t) { return Any::tensor(t); }
inline Any arg(int64_t i) { return Any::integer(i); }
inline Any arg(double v) { return Any::real(v); }
inline Any arg(const std::vector<int64_t>& d) { return Any::dims(d); }

// A reduction of each row of a matrix, which it is spread over again.
inline Tensor* of_row(Scope& s, std::string_view op, Tensor* x) {
  return call(s, op, {arg(x), arg(std::vector<int64_t>{1}), Any::boolean(true)});
}

// The results, then d(sum of the first times the last input)/d(each of the `n` first inputs).
inline std::vector<Tensor*> with_gradients(Scope& s, Tensor* y, std::span<Tensor* const> in, size_t n) {
  Tensor* loss = call(s, "sum", {arg(call(s, "mul", {arg(y), arg(in.back())}))});
  thunder::Values wrt;
  for (size_t i = 0; i < n; i++) wrt.push(Ref<Tensor>(in[i]));
  std::vector<Tensor*> out = {y};
  thunder::Values* grads = s.grad(loss, wrt);
  for (size_t i = 0; grads && i < grads->size(); i++) out.push_back((*grads)[i].tensor.get());
  return out;
}

}  // namespace thunder::fusion
