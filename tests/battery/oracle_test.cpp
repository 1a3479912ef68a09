// Eager results against oracles, and the types that tracing promises against the results' own.
// covers: core/ops/defs/*.cpp
#include "battery/battery.h"

#include <algorithm>

namespace thunder::battery {
namespace {

// Ops without an oracle, and what holds them instead.
constexpr std::pair<std::string_view, std::string_view> kExcused[] = {
    {"rand", "random: its distribution is checked"},        {"randn", "random: its distribution is checked"},
    {"uniform", "random: its distribution is checked"},     {"randint", "random: its distribution is checked"},
    {"dropout", "random: its distribution is checked"},     {"rand_like", "random: its distribution is checked"},
    {"randn_like", "random: its distribution is checked"},  {"randint_like", "random: its distribution is checked"},
    {"randperm", "random: its distribution is checked"},    {"bernoulli", "random: its distribution is checked"},
    {"normal", "random: its distribution is checked"},      {"exponential", "random: its distribution is checked"},
    {"cauchy", "random: its distribution is checked"},      {"log_normal", "random: its distribution is checked"},
    {"geometric", "random: its distribution is checked"},   {"multinomial", "random: its distribution is checked"},
    {"standard_gamma", "random: its distribution is checked"}, {"poisson", "random: its distribution is checked"},
    {"gumbel_softmax", "random: its distribution is checked"}, {"feature_dropout", "random: its distribution is checked"},
    {"uniform_like", "random: its distribution is checked"}, {"init_uniform", "random: its distribution is checked"},
    {"init_normal", "random: its distribution is checked"}, {"init_trunc_normal", "random: its distribution is checked"},
    {"init_xavier_uniform", "random: its distribution is checked"},
    {"init_xavier_normal", "random: its distribution is checked"},
    {"init_kaiming_uniform", "random: its distribution is checked"},
    {"init_kaiming_normal", "random: its distribution is checked"},
    {"init_orthogonal", "random: random_test.cpp checks that its rows are orthonormal"},
    {"init_eye", "not drawn: random_test.cpp checks its values"},
    {"init_calculate_gain", "a number: random_test.cpp checks some of its rows"},
    {"alpha_dropout", "random: its distribution is checked"},
    {"feature_alpha_dropout", "random: its distribution is checked"},
    {"view_dtype", "bits, not numbers: tests/python/tensor_test.py reads them beside numpy"},
    {"prims.ctc_loss", "its alphas are of use to its gradient alone: ctc_loss has an oracle"},
    {"prims.ctc_loss_backward", "the gradient of ctc_loss, which is compared with differences"},
    {"prims.ctc_loss_curvature", "the gradient's gradient: gradients_test.cpp compares it with differences"},
    {"linalg_qr", "signs are free: tests/core/ops/linalg_test.cpp checks what factors must be"},
    {"qr", "signs are free: tests/core/ops/linalg_test.cpp checks what factors must be"},
    {"linalg_svd", "signs are free: tests/core/ops/linalg_test.cpp checks what factors must be"},
    {"svd", "signs are free: tests/core/ops/linalg_test.cpp checks what factors must be"},
    {"linalg_eigh", "signs are free: tests/core/ops/linalg_test.cpp checks what factors must be"},
};
bool excused(std::string_view op) {
  return std::any_of(std::begin(kExcused), std::end(kExcused), [&](auto& row) { return row.first == op; });
}

TEST_F(Battery, every_op_has_an_oracle_or_a_reason) {
  for (auto& op : ops()) {
    if (op->has(kHidden) || accepted_cases(*op).empty()) continue;
    EXPECT_NE(oracle_of(*op) != nullptr, excused(op->name()) || excused(op->alias_of)) << op->name();
  }
}

TEST_F(Battery, every_composite_has_samples) {
  for (auto& op : ops()) {
    EXPECT_FALSE(op->decompose && !op->has(kHidden) && accepted_cases(*op).empty()) << op->name();
  }
}

TEST_F(Battery, results_are_those_of_the_oracles) {
  each_case("against oracles", [&](const Case& c) {
    const Oracle oracle = oracle_of(*c.op);
    if (!oracle) return false;
    const Tensors tensors = make_tensors(c);
    EXPECT_EQ(difference(run_eager(*context, c, tensors), oracle(oracle_arguments(c, tensors))), "") << c.name;
    return true;
  });
}

TEST_F(Battery, results_have_the_types_that_tracing_promises) {
  each_case("traced", [&](const Case& c) {
    const Tensors tensors = make_tensors(c);
    const Outcome eager = run_eager(*context, c, tensors);
    EXPECT_EQ(disagreement(c, run_traced(*context, c, tensors, eager.types.size()), eager), "") << c.name;
    return true;
  });
}

}  // namespace
}  // namespace thunder::battery
