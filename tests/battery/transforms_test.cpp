// vmap against a loop over the batch; jvp against central differences, and against vjp. Covers passes/batching, passes/jvp and
// transforms/derivatives.
// covers: core/passes/batching.cpp core/passes/jvp.cpp core/transforms/*.cpp
#include <algorithm>
#include <cmath>

#include "battery/battery.h"
#include "tracer/eager.h"
#include "transforms/transforms.h"

namespace thunder::battery {
namespace {

// The op of a case as a function of its tensors.
class CaseFunction : public Function {
 public:
  CaseFunction(const Case& c, size_t results) : Function(c.name), case_(c), results_(results) {}
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    std::vector<Tensor*> tensors;
    for (size_t i = 0; i < in.size(); i++) tensors.push_back(in[i].tensor.get());
    for (Tensor* t : invoke(scope, case_, tensors, results_)) out.push(Any::tensor(t));
    return {};
  }

 private:
  const Case& case_;
  size_t results_;
};

Ref<Function> function_of(const Case& c, size_t results) { return Ref<Function>::adopt(new CaseFunction(c, results)); }

Ints shape_of(const Tensor& t) { return Ints(t.sizes(), t.sizes() + t.type().rank()); }

struct Transforms : Battery {
  bool check_batch(const Case& c, size_t first, size_t last);
  bool check_forward(const Case& c);
  Outcome called(Function& f, const Values& in);
};

// Every leaf of the results.
Outcome Transforms::called(Function& f, const Values& in) {
  reset_random(*context);
  EagerScope scope(context->scope_environment(), false);
  Values* out = apply(scope, f, in);
  Outcome made;
  if (scope.status()) made.code = scope.status()->code(), made.error = scope.status()->message();
  for (size_t i = 0; made.error.empty() && i < out->size(); i++) {
    made.types.push_back((*out)[i].tensor->type());
    made.values.push_back(numbers_of(*(*out)[i].tensor));
  }
  return made;
}

// The arguments from `first` up to `last` differ between three examples, of which the second is the first's in another order.
bool Transforms::check_batch(const Case& c, size_t first, size_t last) {
  const Tensors tensors = make_tensors(c);
  if (tensors.empty() || first >= tensors.size()) return false;
  const size_t n = result_count(*context, c, tensors);
  constexpr size_t kExamples = 3;
  Values batch;
  std::vector<BatchDim> dims;
  std::vector<Tensors> examples(kExamples, tensors);
  for (size_t i = 0; i < tensors.size(); i++) {
    const bool varies = i >= first && i < last;
    dims.push_back(varies ? BatchDim(0) : BatchDim());
    if (!varies) {
      batch.push(tensors[i]);
      continue;
    }
    std::vector<double> all;
    Ints shape = shape_of(*tensors[i]);
    for (size_t k = 0; k < kExamples; k++) {
      std::vector<double> one = numbers_of(*tensors[i]);
      if (k == 1) std::reverse(one.begin(), one.end());
      examples[k][i] = tensor_of(shape, tensors[i]->type().dtype, one);
      all.insert(all.end(), one.begin(), one.end());
    }
    shape.insert(shape.begin(), kExamples);
    batch.push(tensor_of(shape, tensors[i]->type().dtype, all));
  }
  const Outcome got = called(*vmap(function_of(c, n), dims, {}, Randomness::error), batch);
  if (needs_values(c, got) || got.error.find("draws random numbers") != std::string::npos) return false;
  Outcome expected;
  for (size_t k = 0; k < kExamples; k++) {
    const Outcome one = run_eager(*context, c, examples[k]);
    if (!one.error.empty()) return false;  // the other order is no argument of this op
    for (size_t r = 0; r < n; r++) {
      if (k == 0) {
        expected.types.push_back(one.types[r]);
        expected.types.back().shape.insert(0, static_cast<int64_t>(kExamples));
        expected.values.emplace_back();
      }
      expected.values[r].insert(expected.values[r].end(), one.values[r].begin(), one.values[r].end());
    }
  }
  EXPECT_EQ(got.error, "") << c.name;
  if (got.error.empty()) {
    EXPECT_EQ(difference(got, expected, 4), "") << c.name << ", arguments " << first << " to " << last;
  }
  return true;
}

TEST_F(Transforms, vmap_is_a_loop_over_the_batch) {
  each_case("vmap", [&](const Case& c) {
    bool any = check_batch(c, 0, SIZE_MAX);
    any |= check_batch(c, 0, 1);
    return any | check_batch(c, 1, SIZE_MAX);
  });
}

// What has no batching rule, of its own or of its kind, runs an example at a time. (Made from nothing, the others never vary.)
TEST_F(Transforms, only_these_prims_are_unrolled) {
  std::string unrolled;
  for (const OpDef* op : context->registry().all()) {
    const auto& params = op->schema.params;
    const bool takes_tensors = std::any_of(params.begin(), params.end(), [](auto& p) {
      return (p.kind == ParamKind::tensor && !p.number) || p.kind == ParamKind::tensors;  // prims take numbers as such
    });
    if (op->prim && takes_tensors && !op->has(kHidden) && !batch_rule(*op)) unrolled += std::string(op->name()) + " ";
  }
  EXPECT_EQ(unrolled, "prims.grouped_matmul prims.nonzero prims.sort_rows prims.advance_random prims.searchsorted ");
}

double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
  return sum;
}

std::vector<double> direction(size_t n, double seed) {
  std::vector<double> out;
  for (size_t i = 0; i < n; i++) out.push_back(std::sin(seed + 0.9 * static_cast<double>(i)));
  return out;
}

bool Transforms::check_forward(const Case& c) {
  const Tensors tensors = make_tensors(c);
  const size_t n = result_count(*context, c, tensors);
  constexpr double kStep = 1e-5;
  const Outcome at = run_eager(*context, c, tensors);
  if (n == 0 || !at.error.empty() || std::any_of(at.types.begin(), at.types.end(), [](auto& t) { return t.dtype != DType::f64; })) return false;
  Tensors above = tensors, below = tensors;
  std::vector<std::vector<double>> tangents, cotangents;
  Values primals, pushed, pulled;
  for (size_t i = 0; i < tensors.size(); i++) primals.push(tensors[i]);
  pushed.assign(primals), pulled.assign(primals);
  pushed.open(false, {}), pulled.open(false, {});
  for (size_t i = 0; i < tensors.size(); i++) {
    if (tensors[i]->type().dtype != DType::f64) continue;
    const Ints shape = shape_of(*tensors[i]);
    std::vector<double> up = numbers_of(*tensors[i]), down = up;
    tangents.push_back(direction(up.size(), 1 + static_cast<double>(i)));
    for (size_t k = 0; k < up.size(); k++) up[k] += kStep * tangents.back()[k], down[k] -= kStep * tangents.back()[k];
    above[i] = tensor_of(shape, DType::f64, up), below[i] = tensor_of(shape, DType::f64, down);
    pushed.push(tensor_of(shape, DType::f64, tangents.back()));
  }
  if (tangents.empty()) return false;
  for (size_t r = 0; r < n; r++) {
    Ints shape;
    for (Dim d : at.types[r].shape) shape.push_back(d.value());
    cotangents.push_back(direction(at.values[r].size(), 2 + static_cast<double>(r)));
    pulled.push(tensor_of(shape, DType::f64, cotangents.back()));
  }
  pushed.close(), pulled.close();
  const Outcome forward = called(*jvp(function_of(c, n), {}), pushed), backward = called(*vjp(function_of(c, n), {}), pulled);
  EXPECT_EQ(forward.error + backward.error, "") << c.name;
  if (!forward.error.empty() || !backward.error.empty()) return true;
  const Outcome high = run_eager(*context, c, above), low = run_eager(*context, c, below);
  double along = 0, size = 0;
  for (size_t r = 0; r < n; r++) {
    const std::vector<double>& got = forward.values[n + r];
    for (size_t k = 0; k < got.size(); k++) {
      const double expected = (high.values[r][k] - low.values[r][k]) / (2 * kStep);
      if (!std::isfinite(expected)) continue;
      EXPECT_NEAR(got[k], expected, 2e-5 * (1 + std::fabs(expected))) << c.name << ", result " << r << ", element " << k;
      size += std::fabs(got[k] * cotangents[r][k]);
    }
    along += inner_product(got, cotangents[r]);
  }
  double back = 0;
  for (size_t i = 0; i < tangents.size(); i++) back += inner_product(backward.values[n + i], tangents[i]);
  EXPECT_NEAR(along, back, 1e-10 * (1 + size)) << c.name << ": jvp and vjp disagree";
  return true;
}

TEST_F(Transforms, jvp_agrees_with_differences_and_with_vjp) {
  each_case("jvp", [&](const Case& c) {
    return !c.sample.eager && c.sample.gradient && c.op->nondiff.empty() && check_forward(with_reals(c, DType::f64));
  });
}

}  // namespace
}  // namespace thunder::battery
