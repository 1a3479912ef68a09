// Options of ops that are numbers, beside tensors of every real dtype: what an op gives is what its oracle gives for the number itself,
// eager and compiled, whatever the dtype holds.
#include <algorithm>
#include <cmath>

#include "battery/battery.h"
#include "support/generator.h"

namespace thunder::battery {
namespace {

// Not exact in float32; a small one; zeros; beyond float16 and its integers; beyond those of float32.
constexpr double kNumbers[] = {0.1, 1e-9, -0.0, 0.0, -0.3, 3.0, 65536.0, 16777217.0, 1e39};

struct NumberOptions : Battery {
  // Not the order of a norm, in whose powers doubles overflow as well, a probability, what counts as zero or is added to
  // what may be, ends of ranges; nor of index_add, which rounds after each of the rows that it adds.
  static bool is_option(const OpDef& op, size_t param) {
    constexpr std::string_view kOthers[] = {"p", "ord", "dropout_p", "rcond", "eps", "start", "end"};
    const auto& def = op.schema.params[param];
    return def.kind == ParamKind::real && op.schema.name != "index_add" &&
           std::find(std::begin(kOthers), std::end(kOthers), def.name) == std::end(kOthers);
  }

  void check(const Case& sample, size_t param, double number, DType dtype) {
    if (dtype != DType::f64 && std::fabs(number) > info(DType::f32).largest) return;  // computed with, it is infinite
    Case c = with_reals(sample, dtype);
    c.sample.args[param] = SampleArg(number);
    const std::string what = cat(c.name, " of ", name(dtype), ", ", c.op->schema.params[param].name, " = ", number);
    const Tensors tensors = make_tensors(c);
    const Outcome eager = run_eager(*context, c, tensors);
    if (eager.error.empty()) {
      const std::string found = difference(eager, oracle_of(*c.op)(oracle_arguments(c, tensors)));
      EXPECT_EQ(found, "") << what;
    }
    EXPECT_EQ(disagreement(c, run_compiled(*context, c, tensors, std::max<size_t>(1, eager.types.size())), eager), "") << what << ", compiled";
    tally()["number options"]++;
  }
};

TEST_F(NumberOptions, are_themselves_beside_every_real_dtype) {
  constexpr DType kReals[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
  struct Try {
    Case sample;
    size_t param;
  };
  std::vector<Try> tries;
  for (const OpDef* op : ops()) {
    if (op->has(kHidden) || op->prim || op->has(kRandom) || !oracle_of(*op)) continue;
    for (const Case& c : accepted_cases(*op))
      for (size_t i = 0; i < c.sample.args.size(); i++)
        if (std::holds_alternative<double>(c.sample.args[i].value) && is_option(*op, i)) tries.push_back({c, i});
  }
  const auto run = [&](const Try& t, double number, DType d) { check(t.sample, t.param, number, d); };
  if (tests::number_from("THUNDER_TRIES", 0)) {
    for (const Try& t : tries)
      for (double number : kNumbers)
        for (DType d : kReals) run(t, number, d);
    return;
  }
  std::mt19937_64 random(tests::number_from("THUNDER_SEED", 1));
  for (const Try& t : tries)
    for (int k = 0; k < 3; k++) run(t, kNumbers[tests::below(random, std::size(kNumbers))], kReals[tests::below(random, std::size(kReals))]);
}

}  // namespace
}  // namespace thunder::battery
