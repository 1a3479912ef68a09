// Every pass on the cases of its golden file.
// covers: core/passes/accumulate.cpp core/passes/casts.cpp core/passes/overlap_order.cpp core/passes/reshard.cpp
// covers: core/passes/reassociate.cpp core/passes/vary.cpp core/passes/waits.cpp
#include "support/golden.h"

#include "passes/accumulate.h"
#include "passes/algebra.h"
#include "passes/casts.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/fold.h"
#include "passes/reassociate.h"
#include "passes/reshard.h"
#include "passes/vary.h"
#include "passes/waits.h"

namespace thunder {
namespace {

TEST(Dce, makes_its_golden_traces) { tests::check_golden("dce", dce); }
TEST(Cse, makes_its_golden_traces) { tests::check_golden("cse", cse); }
TEST(Fold, makes_its_golden_traces) { tests::check_golden("fold", fold); }
TEST(Casts, makes_its_golden_traces) { tests::check_golden("casts", casts); }
TEST(Accumulate, makes_its_golden_traces) { tests::check_golden("accumulate", accumulate); }
TEST(Algebra, makes_its_golden_traces) { tests::check_golden("algebra", algebra); }
TEST(Reassociate, makes_its_golden_traces) {
  tests::check_golden("reassociate", [](const Trace& trace, PassContext& context) {
    CompileSettings settings;
    settings.deterministic = true;
    PassContext own{context.registry, context.allocator, false, settings};
    return reassociate(trace, own);
  });
}
TEST(Reassociate, changes_nothing_unless_it_is_asked_for) {
  const Registry registry;
  PassContext context{registry};
  for (const auto& one : tests::read_golden("golden/reassociate.trace"))
    EXPECT_FALSE(reassociate(read_trace(one.before, registry), context)) << one.name;
}
TEST(Waits, makes_its_golden_traces) { tests::check_golden("waits", waits); }
TEST(Reshard, makes_its_golden_traces) { tests::check_golden("reshard", reshard); }
TEST(Vary, makes_its_golden_traces) { tests::check_golden("vary", vary); }
TEST(Overlap, makes_its_golden_traces) { tests::check_golden("overlap", overlap); }

}  // namespace
}  // namespace thunder
