// Random programs that read values on the way: views, writes, gradients and gradients of gradients mean across breaks
// what they mean on a tape, or are refused.
#include "battery/battery.h"
#include "battery/program_outcomes.h"

namespace thunder::battery {
namespace {

// THUNDER_TRIES says another number, THUNDER_SEED which is the first; THUNDER_PROGRAM_SEED=N runs one.
constexpr uint64_t kPrograms = 200;

struct SegmentPrograms : Battery {
  bool agree(uint64_t seed) {
    const Program p = random_program_that_reads(seed);
    const Outcome expected = taped(*context, p, program_inputs(p, seed));
    if (!expected.error.empty()) {  // by a tensor that was written after its use
      tally()["programs that read, refused eagerly"]++;
      EXPECT_NE(expected.error.find("was written in place after"), std::string::npos) << expected.error;
      return true;
    }
    bool same = true;
    for (bool whole : {true, false}) same = agree(seed, p, expected, whole) && same;
    return same;
  }

 private:
  bool agree(uint64_t seed, const Program& p, const Outcome& expected, bool whole) {
    CompileOptions options;
    options.set("fullgraph", Any::boolean(whole));
    options.set("executors", Any::string("host"));
    const auto body = [&](Scope& s, std::span<Tensor* const> in) { return run_program(p, s, in); };
    // The second call follows what the first recorded.
    const Tensors calls[] = {program_inputs(p, seed), program_inputs(p, seed)};
    const std::vector<Outcome> made = calls_compiled(*context, body, calls, expected.types.size() - 1, options);
    for (size_t call = 0; call < made.size(); call++) {
      if (!whole && made[call].error.find("the function broke") != std::string::npos) {
        tally()["programs that read, refused"] += call == 0;
        continue;
      }
      const std::string found = difference(with_state(made[call], calls[call]), expected, 1000, kLeast);
      if (found.empty() || (made[call].error.empty() && amplifies(*context, seed, p, expected))) continue;
      EXPECT_EQ(found, "") << "THUNDER_PROGRAM_SEED=" << seed << (whole ? ", whole" : ", in segments") << ", call " << call
                           << "\n" << p.text();
      return false;
    }
    return true;
  }
};

TEST_F(SegmentPrograms, mean_what_they_mean_on_a_tape) {
  if (const char* seed = std::getenv("THUNDER_PROGRAM_SEED")) {
    agree(std::strtoull(seed, nullptr, 10));
    return;
  }
  int failures = 0;
  const uint64_t first = number_from("THUNDER_SEED", 1), end = first + number_from("THUNDER_TRIES", kPrograms);
  for (uint64_t seed = first; seed < end && failures < 3; seed++) failures += !agree(seed), tally()["programs that read"]++;
}

}  // namespace
}  // namespace thunder::battery
