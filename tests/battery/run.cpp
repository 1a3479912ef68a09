// A case run in every way, and outcomes compared.
#include "battery/run.h"

#include <cmath>
#include <cstdlib>
#include <deque>

#include "base/text.h"
#include "compile/stages.h"
#include "ops/kernels.h"
#include "tracer/eager.h"
#include "tracer/tracing.h"

namespace thunder::battery {
namespace {

// A plain body as a function that can be compiled.
class Plain : public Function {
 public:
  explicit Plain(Body body) : Function("f"), body_(std::move(body)) {}
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    std::vector<Tensor*> tensors;
    for (size_t i = 0; i < in.size(); i++) tensors.push_back(in[i].tensor.get());
    for (Tensor* t : body_(scope, tensors)) out.push(Any::tensor(t));
    return {};
  }

 private:
  Body body_;
};

std::vector<Tensor*> pointers(const Tensors& tensors) {
  std::vector<Tensor*> out;
  for (auto& t : tensors) out.push_back(t.get());
  return out;
}
Outcome failure(const Status& status) { return {{}, {}, status.code(), status.message()}; }
Outcome outcome_of(std::span<Tensor* const> tensors) {
  Outcome out;
  for (Tensor* t : tensors) {
    out.types.push_back(t->type());
    out.values.push_back(numbers_of(*t));
  }
  return out;
}

}  // namespace

Any plain(const SampleArg& given) {
  Any a;
  if (auto* b = std::get_if<bool>(&given.value)) a = Any::boolean(*b);
  else if (auto* i = std::get_if<int64_t>(&given.value)) a = Any::integer(*i);
  else if (auto* f = std::get_if<double>(&given.value)) a = Any::real(*f);
  else if (auto* s = std::get_if<std::string>(&given.value)) a = Any::string(*s);
  else if (auto* d = std::get_if<Ints>(&given.value)) a = Any::dims(*d);
  else if (auto* t = std::get_if<DType>(&given.value)) a.kind = ArgKind::dtype, a.i = 0, a.dtype = *t;
  return a;
}

std::vector<Tensor*> invoke(Scope& scope, const Case& c, std::span<Tensor* const> tensors, size_t n_results) {
  std::vector<Any> args;
  size_t next = 0;
  for (const SampleArg& given : c.sample.args) {
    Any a;
    if (std::holds_alternative<TensorSpec>(given.value)) a = Any::tensor(tensors[next++]);
    else if (auto* list = std::get_if<std::vector<TensorSpec>>(&given.value)) {
      a.kind = ArgKind::values, a.count = static_cast<uint32_t>(list->size()), a.ts = tensors.data() + next;
      next += list->size();
    } else a = plain(given);
    args.push_back(a);
  }
  std::vector<Tensor*> out(n_results);
  scope.invoke(std::string(c.op->name()) + (c.in_place ? "_" : ""), args, nullptr, out.data(), n_results, nullptr);
  return out;
}

// A variadic op says how many it returns by refusing to return more.
size_t result_count(Context& context, const Case& c, const Tensors& tensors) {
  if (!c.op->schema.variadic()) return c.op->schema.results.size();
  const auto in = pointers(tensors);
  for (size_t n = 1;; n++) {
    EagerScope scope(context.scope_environment(), false);
    invoke(scope, c, in, n + 1);
    if (scope.status()) return n;
  }
}

void reset_random(Context& context) { std::fill_n(reinterpret_cast<int64_t*>(context.random()->data()), 2, 0); }

Outcome run_eager(Context& context, const Case& c, const Tensors& tensors) {
  reset_random(context);
  const size_t n = result_count(context, c, tensors);
  reset_random(context);
  EagerScope scope(context.scope_environment(), false);
  const auto results = invoke(scope, c, pointers(tensors), n);
  return scope.status() ? failure(*scope.status()) : outcome_of(results);
}

Outcome run_traced(Context& context, const Case& c, const Tensors& tensors, size_t n_results) {
  TracingScope scope(context.scope_environment(), "f");
  std::vector<Tensor*> proxies;
  for (auto& t : tensors) proxies.push_back(scope.argument_proxy(t->type(), "x" + std::to_string(proxies.size()), t));
  const auto results = invoke(scope, c, proxies, n_results);
  if (scope.status()) return failure(*scope.status());
  Outcome out;
  for (Tensor* t : results) out.types.push_back(t->type());
  return out;
}

std::vector<Outcome> calls_compiled(Context& context, Body body, std::span<const Tensors> calls, size_t n_results, const CompileOptions& options) {
  CompileOptions verified = options;
  verified.set("verify", Any::boolean(true));
  Compiled compiled(Ref<Context>(&context), Ref<Function>::adopt(new Plain(std::move(body))), &verified);
  std::vector<Outcome> out;
  for (const Tensors& tensors : calls) {
    reset_random(context);
    std::vector<Tensor*> results(n_results);
    const auto in = pointers(tensors);
    if (Status* failed = compiled.call_tensors(in.data(), in.size(), results.data(), n_results)) {
      out.push_back(failure(*Ref<Status>::adopt(failed)));
      continue;
    }
    out.push_back(outcome_of(results));
    for (Tensor* t : results) t->release();
  }
  return out;
}

Outcome call_compiled(Context& context, Body body, const Tensors& tensors, size_t n_results, const CompileOptions& options) {
  return calls_compiled(context, std::move(body), {&tensors, 1}, n_results, options)[0];
}

Outcome run_compiled(Context& context, const Case& c, const Tensors& tensors, size_t n_results, std::string_view disabled_passes) {
  CompileOptions options;
  options.set("disable_passes", Any::string(disabled_passes));
  return call_compiled(
      context, [&](Scope& s, std::span<Tensor* const> in) { return invoke(s, c, in, n_results); }, tensors, n_results, options);
}

// ---- comparing ----

double stored_as(double v, DType dtype) {
  if (is_integer(dtype)) {
    // Doubles hold no 64-bit integer that has wrapped around.
    if (!std::isfinite(v) || (dtype == DType::i64)) return std::isfinite(v) ? std::trunc(v) : v;
    const double range = std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype))), whole = std::trunc(v);
    const double wrapped = whole - std::floor(whole / range) * range;
    return is_signed(dtype) && wrapped >= range / 2 ? wrapped - range : wrapped;
  }
  switch (dtype) {
    case DType::boolean: return v != 0;
    case DType::f32: return static_cast<double>(static_cast<float>(v));
    case DType::bf16: return static_cast<double>(static_cast<float>(bf16(static_cast<float>(v))));
    case DType::f16: return static_cast<double>(static_cast<float>(f16(static_cast<float>(v))));
    default: return v;
  }
}

double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-11;
    case DType::f32: return 4e-6;
    case DType::bf16: return 1.0 / 128;
    case DType::f16: return 1.0 / 1024;
    default: return 0;
  }
}

std::string difference(const std::vector<double>& got, const std::vector<double>& expected, double tolerance, double least) {
  if (got.size() != expected.size()) return cat("has ", got.size(), " elements, expected ", expected.size());
  double largest = least;
  for (double v : expected)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  for (size_t i = 0; i < got.size(); i++) {
    const double a = got[i], b = expected[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const bool near = std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= tolerance * std::min(largest, std::fabs(b) + 1);
    if (!near) return cat("element ", static_cast<int64_t>(i), " is ", a, ", expected ", b);
  }
  return "";
}

std::string difference(const Outcome& got, const Outcome& expected, double tolerance_scale, double least) {
  if (got.error.empty() != expected.error.empty())
    return got.error.empty() ? "worked, expected the error: " + expected.error : "failed: " + got.error;
  if (got.types.size() != expected.types.size()) return "another number of results";
  for (size_t i = 0; i < got.types.size(); i++) {
    if (got.types[i].dtype != expected.types[i].dtype || !(got.types[i].shape == expected.types[i].shape))
      return cat("result ", static_cast<int64_t>(i), " is ", name(got.types[i]), ", expected ", name(expected.types[i]));
    if (got.values.empty() || expected.values.empty()) continue;
    const double tolerance = tolerance_of(got.types[i].dtype) * tolerance_scale;
    const std::string found = difference(got.values[i], expected.values[i], tolerance, least);
    if (!found.empty()) return cat("result ", static_cast<int64_t>(i), ": ", found);
  }
  return "";
}

std::string difference(const Outcome& got, const Arrays& expected) {
  if (!got.error.empty()) return "failed: " + got.error;
  if (got.values.size() != expected.size()) return "another number of results";
  for (size_t i = 0; i < expected.size(); i++) {
    Shape shape;
    for (int64_t d : expected[i].shape) shape.push_back(d);
    const TensorType& type = got.types[i];
    if (!(type.shape == shape)) return cat("result ", static_cast<int64_t>(i), " is ", name(type), ", expected shape ", name(std::span<const Dim>(shape.data(), shape.size())));
    std::vector<double> wanted;
    for (double v : expected[i].data) wanted.push_back(stored_as(v, type.dtype));
    const std::string found = difference(got.values[i], wanted, tolerance_of(type.dtype));
    if (!found.empty()) return cat("result ", static_cast<int64_t>(i), ": ", found);
  }
  return "";
}

bool needs_values(const Case& c, const Outcome& recorded) {
  return c.op->has(kEager) && recorded.code == Code::unimplemented &&
         recorded.error.find("depends on values") != std::string::npos;
}

std::string disagreement(const Case& c, const Outcome& compiled, const Outcome& eager) {
  return needs_values(c, compiled) ? "" : difference(compiled, eager);
}

std::vector<std::string> optional_passes() {
  std::vector<std::string> names;
  for (const StageRow& row : stages())
    if (!row.required) names.emplace_back(row.name);
  return names;
}

}  // namespace thunder::battery
