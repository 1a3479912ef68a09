// Random programs, forward and backward: taped, compiled, and compiled without each optional pass agree.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/cpu_count.h"
#include "battery/battery.h"
#include "battery/program_outcomes.h"
#include "support/pieces.h"

namespace thunder::battery {
namespace {

// THUNDER_PROGRAMS says another number.
constexpr uint64_t kPrograms = 400;
// Those that only run eagerly and fused, after the others; THUNDER_FUSED_PROGRAMS says another number.
constexpr uint64_t kFusedPrograms = 100;

// One way of compiling: executors by name, highest priority first ("": the built-in ones), and the passes to leave out.
struct Variant {
  std::string executors, disabled;
};
// Each list of executors with all passes and without all optional ones; the first also without each of them.
std::vector<Variant> variants() {
  const std::vector<std::string> executor_lists = {"host", "pieces", "fusion", ""};
  std::vector<Variant> out;
  std::string all;
  for (const std::string& pass : optional_passes()) {
    out.push_back({executor_lists[0], pass});
    all += (all.empty() ? "" : ",") + pass;
  }
  for (const std::string& executors : executor_lists) out.push_back({executors, ""}), out.push_back({executors, all});
  return out;
}

// As good as drawn at random, and the same each time.
uint64_t drawn(const Node& n) { return mix(n.results.empty() ? 0 : n.results[0], 1); }

struct RandomPrograms : Battery {
  // An executor that takes lines in pieces of any form, and does not want each piece in the end.
  test::Pieces choice{.takes = [](const Node& n) { return drawn(n) % 4 != 0; },
                      .declines = [](const Node& region) { return drawn(region) % 5 == 0; }};
  RandomPrograms() { context->add_executor(test::pieces_executor(choice)); }

  // Whether these variants agree with the tape.
  static bool agree(Context& context, uint64_t seed, const std::vector<Variant>& variants) {
    const Program p = random_program(seed);
    const Outcome expected = taped(context, p, program_inputs(p, seed));
    EXPECT_EQ(expected.error, "") << "THUNDER_PROGRAM_SEED=" << seed << "\n" << p.text();
    if (!expected.error.empty()) return false;
    for (const Variant& v : variants) {
      CompileOptions options;
      options.set("executors", Any::string(v.executors));
      options.set("disable_passes", Any::string(v.disabled));
      const auto body = [&](Scope& s, std::span<Tensor* const> in) { return run_program(p, s, in); };
      const Tensors inputs = program_inputs(p, seed);
      const Outcome compiled = with_state(call_compiled(context, body, inputs, expected.types.size() - 1, options), inputs);
      const std::string found = difference(compiled, expected, 1000, kLeast);
      if (!found.empty() && compiled.error.empty() && amplifies(context, seed, p, expected)) continue;
      EXPECT_EQ(found, "") << "THUNDER_PROGRAM_SEED=" << seed << ", executors '" << v.executors << "', without '" << v.disabled << "'\n" << p.text();
      if (!found.empty()) return false;
    }
    return true;
  }
};

// THUNDER_PROGRAM_SEED=N runs that program alone.
TEST_F(RandomPrograms, mean_the_same_however_they_run) {
  if (const char* seed = std::getenv("THUNDER_PROGRAM_SEED")) {
    agree(*context, std::strtoull(seed, nullptr, 10), variants());
    return;
  }
  int failures = 0;
  const uint64_t last = number_from("THUNDER_PROGRAMS", kPrograms);
  for (uint64_t seed = 1; seed <= last && failures < 3; seed++) failures += !agree(*context, seed, variants()), tally()["random programs"]++;
}

TEST_F(RandomPrograms, mean_the_same_when_fused) {
  if (std::getenv("THUNDER_PROGRAM_SEED")) GTEST_SKIP() << "that program is run in every way";
  const uint64_t end = kPrograms + 1 + number_from("THUNDER_FUSED_PROGRAMS", kFusedPrograms);
  std::atomic<uint64_t> next{kPrograms + 1};
  std::atomic<int> failures{0};
  // Compiling kernels takes most of the time. Each thread has a context of its own.
  const auto work = [&] {
    const auto own = test::seeded_context();
    for (uint64_t seed; failures < 3 && (seed = next++) < end;) failures += !agree(*own, seed, {{"fusion", ""}});
  };
  std::vector<std::thread> threads;
  for (size_t t = 1; t < thread_count(); t++) threads.emplace_back(work);
  work();
  for (auto& t : threads) t.join();
  tally()["fused programs"] += end - kPrograms - 1;
}

}  // namespace
}  // namespace thunder::battery
