// What must be refused is, by name, and leaves the scope usable; kernels that refuse data say so in their tags.
#include <set>

#include "battery/battery.h"
#include "ops/widened.h"
#include "tracer/eager.h"

namespace thunder::battery {
namespace {

// Runs reference kernels and notes which refuse.
struct WatchedRunner : OpRunner {
  Status* run(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in, std::span<const Buffer> out) override {
    Status* failed = run_reference(op, {in, out, args});
    if (!failed) return nullptr;
    bool integers = true;
    for (const Buffer& b : in) integers &= b.present() && is_integer(b.dtype);
    if (!op.has(kChecksData) && !(integers && op.has(kChecksIntegers))) untagged.insert(std::string(op.name()));
    return failed;
  }
  std::set<std::string> untagged;
};

struct Refusals : Battery {
  WatchedRunner runner;

  Refusals() {
    environment = context->scope_environment();
    environment.runner = &runner;
  }
  std::vector<Tensor*> pointers(const Tensors& tensors) {
    std::vector<Tensor*> out;
    for (auto& t : tensors) out.push_back(t.get());
    return out;
  }
  ScopeEnvironment environment;
};

TEST_F(Refusals, name_the_op_and_the_reason_and_leave_the_scope_usable) {
  for (auto& op : ops())
    for (const Case& c : refused_cases(*op)) {
      const Tensors tensors = make_tensors(c);
      EagerScope scope(environment, false);
      invoke(scope, c, pointers(tensors), 1);
      ASSERT_TRUE(scope.status()) << c.name;
      const std::string message = scope.status()->message();
      EXPECT_NE(message.find(c.word), message.npos) << c.name << ": " << message;
      EXPECT_EQ(message.find(op->name()), 0u) << message;
      scope.reset();
      const Any two[] = {Any::integer(2)};
      EXPECT_EQ(numbers_of(*scope.invoke("arange", two, nullptr, nullptr, 0, nullptr)), (std::vector<double>{0, 1})) << c.name;
      tally()["refused"]++;
    }
}

TEST_F(Refusals, hold_for_compiled_calls_too) {
  for (auto& op : ops())
    for (const Case& c : refused_cases(*op)) {
      const Outcome compiled = run_compiled(*context, c, make_tensors(c), 1);
      if (needs_values(c, compiled)) continue;
      EXPECT_NE(compiled.error.find(c.word), compiled.error.npos) << c.name << ": " << compiled.error;
    }
}

TEST_F(Refusals, of_data_are_tagged) {
  for (auto& op : ops()) {
    std::vector<Case> cases = refused_cases(*op);
    for (const Case& c : accepted_cases(*op)) {
      // Indices out of range, and divisions by zero.
      cases.push_back(changed(c, [](TensorSpec& t) { if (is_integer(t.dtype)) t.low = t.high = 99; }));
      cases.push_back(changed(c, [](TensorSpec& t) { t.dtype = is_real(t.dtype) ? DType::i64 : t.dtype, t.low = t.high = 0; }));
    }
    for (const Case& c : cases) {
      const Tensors tensors = make_tensors(c);
      EagerScope scope(environment, false);
      invoke(scope, c, pointers(tensors), 1);
    }
  }
  for (const std::string& op : runner.untagged) ADD_FAILURE() << op << "'s kernel refuses data: its row needs kChecksData or kChecksIntegers";
}

}  // namespace
}  // namespace thunder::battery
