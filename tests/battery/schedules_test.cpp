// Schedules of the kernels of all ops for machines that are described, none of which is the one at hand.
#include <set>

#include "battery/battery.h"
#include "core/executors/fusion/support.h"
#include "loops/cpu/division.h"

namespace thunder::battery {
namespace {

using fusion::FusedTest, loops::CpuNest, loops::Division, loops::ExprId;

// The trace of a case as fusion claims it; none where the op cannot be compiled for these inputs.
std::optional<Trace> claimed(Context& context, const Case& c, const Tensors& tensors) {
  const size_t n_results = result_count(context, c, tensors);
  const auto body = [&c, n_results](Scope& s, const Values& in, Values& out) {
    std::vector<Tensor*> given;
    for (size_t i = 0; i < in.size(); i++) given.push_back(in[i].tensor.get());
    for (Tensor* t : invoke(s, c, given, n_results)) out.push(Ref<Tensor>(t));
  };
  CompileOptions options;
  options.set("executors", Any::string("fusion,host"));
  Compiled f(Ref<Context>(&context), Ref<Function>::adopt(new test::Lambda(body)), &options);
  Values given;
  for (auto& t : tensors) given.push(Any::tensor(t.get()));
  if (Status* failed = f.prepare(given)) return failed->release(), std::nullopt;
  return f.reports().traces().back();
}

size_t kept_bytes(const CpuNest& n) {
  size_t bytes = 0;
  for (ExprId id : n.kept) bytes += static_cast<size_t>(n.row_elements()) * size_of(n.exprs[id].dtype);
  return bytes;
}

// A schedule changes the order of work and what caches hold, never what is computed.
void expect_scheduled(const CpuNest& n, const CpuNest& first, const Machine& m, const std::string& name) {
  EXPECT_EQ(n.exprs.size(), first.exprs.size()) << name << " for " << m.processor;
  EXPECT_EQ(n.stores.size(), first.stores.size()) << name << " for " << m.processor;
  EXPECT_EQ(n.buffers, first.buffers) << name << " for " << m.processor;
  EXPECT_LT(n.lane, n.outer + n.inner) << name << " for " << m.processor;
  if (m.l2) { EXPECT_LE(kept_bytes(n), m.l2 / 4) << name << " for " << m.processor; }
  if (!m.last_level) { EXPECT_FALSE(n.any_nontemporal()) << name << " for " << m.processor; }
  const Division d = divide_work(n, {}, m);
  EXPECT_GT(d.strip, 0) << name << " for " << m.processor;
  EXPECT_GE(d.items, 1) << name << " for " << m.processor;
  EXPECT_GE(d.grain, 1) << name << " for " << m.processor;
}

TEST_F(Battery, kernels_are_scheduled_for_machines_that_are_not_at_hand) {
  std::set<std::string> seen;
  for (const Machine& m : test::described_machines()) EXPECT_NE(m.processor, test::this_machine().processor);
  each_case("scheduled for four machines", [&](const Case& c) {
    const std::optional<Trace> trace = claimed(*context, c, make_tensors(c));
    if (!trace) return false;
    const auto first = FusedTest::nests(*trace, test::described_machines()[0], "prefetch");
    bool any = false;
    for (const CpuNest& n : first) any |= seen.insert(print(n)).second;
    if (!any) return false;
    for (const Machine& m : test::described_machines()) {
      const auto nests = FusedTest::nests(*trace, m, "prefetch");
      EXPECT_EQ(nests.size(), first.size()) << c.name << " for " << m.processor;
      for (size_t i = 0; i < std::min(nests.size(), first.size()); i++) expect_scheduled(nests[i], first[i], m, c.name);
    }
    return true;
  });
}

}  // namespace
}  // namespace thunder::battery
