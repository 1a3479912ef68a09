#include "compile/stages.h"

#include <array>

#include "base/text.h"
#include "compile/claim.h"
#include "compile/execution_transforms.h"
#include "compile/lower.h"
#include "compile/region_passes.h"
#include "ir/dim_reads.h"
#include "passes/accumulate.h"
#include "passes/algebra.h"
#include "passes/casts.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/fold.h"
#include "passes/grad.h"
#include "passes/materialize.h"
#include "passes/reassociate.h"
#include "passes/reciprocals.h"
#include "passes/reshard.h"
#include "passes/vary.h"
#include "passes/waits.h"
#include "program/report.h"

namespace thunder {
namespace {

template <PassFn pass>
void rewrite(Compilation& c) {
  c.append_trace(pass(c.trace(), c.pass));
}
void transform(Compilation& c) {
  if (c.is_transformed) return;
  c.append_trace(apply_execution_transforms(c.trace(), c.executors, c.environment, c.settings()));
}
void grad(Compilation& c) { c.append_trace(expand_gradients(c.trace(), c.pass.registry)); }
void run_descend(Compilation& c) { c.append_trace(descend(c.trace(), c.executors, c.settings())); }
void run_claim(Compilation& c) { c.append_trace(claim(c.trace(), c.executors, c.settings())); }

void run_partition(Compilation& c) {
  c.joint->trace = c.trace();
  c.partition = partition(std::move(*c.joint));
}

template <const RegionPass& pass>
void run_region_pass(Compilation& c) {
  const DimReads::Pause choices;  // of the sizes at hand: `lower` finds out whether those of a call have these regions
  Trace made = c.trace();
  pass.run(made, c.executors, c.region(), c.states);
  if (made.nodes != c.trace().nodes) c.append_trace(std::move(made));
}
template <const RegionPass& pass>
constexpr StageRow region_stage(std::string_view why) {
  return {pass.name, run_region_pass<pass>, false, why};
}

void channels_last(Compilation& c) {
  if (!c.of_class.shares_plan) c.builder->choose_memory_formats(c.inputs);
}
void plan_memory(Compilation& c) { c.builder->plan_memory(c.inputs, c.settings().epilogue_fusion, c.of_class); }
void schedule(Compilation& c) { c.builder->adapt_kernels_to_layouts(c.settings(), c.of_class, c.check); }
void join(Compilation& c) { c.builder->join_steps(); }
void emit(Compilation& c) { c.builder->finish(c.check); }
void link(Compilation& c) {
  c.program = c.builder->link(StageTraces({c.traces.front()}, c.earlier), c.of_class, c.fixed, *c.threads);
}
void record_graph(Compilation& c) {
  if (c.settings().use_cudagraphs) c.program->enable_recording();
}
std::string graph_report(const Program& program) {
  const std::string text = program.recording_report();
  return cat(text.empty() ? "nothing is recorded: use_cudagraphs is false" : text, "\n");
}

// ---- rows of both tables ----

constexpr StageRow kVary{"vary", rewrite<vary>, true,
                         "before grad: what the ranks have in common has a gradient that is the sum of theirs"};
constexpr StageRow kGrad{"grad", grad, true,
                         "early: what follows cleans up the backward together with the forward"};
constexpr StageRow kCse{"cse", rewrite<cse>, false,
                        "early: the backward recomputes what the forward has, while both are still few lines"};
constexpr StageRow kDce{"dce", rewrite<dce>, false,
                        "before descending, so that nothing unused is descended into"};
constexpr StageRow kDescend{"descend", run_descend, true, "the rest works on the ops that executors take", nullptr,
                            Level::descended};
constexpr StageRow kFold{"fold", rewrite<fold>, false,
                         "decompositions compute with their arguments; the rules below look for numbers"};
constexpr StageRow kCasts{"casts", rewrite<casts>, false, "neighbours convert and reshape back and forth"};
constexpr StageRow kAlgebra{"algebra", rewrite<algebra>, false,
                            "after fold, which makes the numbers that its rules match"};
constexpr StageRow kReciprocals{
    "reciprocals", rewrite<reciprocals>, false,
    "with allow_reciprocal alone; after casts and algebra, which bring divisions to the views of divisors"};
constexpr StageRow kCsePrims{"cse_prims", rewrite<cse>, false,
                             "decompositions repeat each other's casts and constants"};
constexpr StageRow kDcePrims{"dce_prims", rewrite<dce>, false, "drops what descending and merging left unused"};

constexpr std::array kStages = {
    StageRow{"transform", transform, true,
             "before grad: what executors put in the place of lines has gradients of its own"},
    kVary, kGrad, kCse, kDce, kDescend, kFold, kCasts, kAlgebra, kReciprocals,
    StageRow{"reassociate", rewrite<reassociate>, false,
             "after casts, which would stand between sums; before reshard, by then ranks add each gradient up once"},
    StageRow{"accumulate", rewrite<accumulate>, false,
             "after casts and algebra, which bring sums and what they add together"},
    StageRow{"materialize", rewrite<materialize>, false,
             "what is returned is known by now; dce_prims drops the views that copies stand for"},
    kCsePrims,
    StageRow{"reshard", rewrite<reshard>, false,
             "after cse_prims, which would merge what it gathers again; dce_prims drops the forms that nothing reads"},
    kDcePrims,
    StageRow{"claim", run_claim, true, "after all rewriting of lines: each gets the executor that runs it", nullptr,
             Level::claimed},
    StageRow{"waits", rewrite<waits>, true, "directly after claim: what an executor starts, a line waits for"},
    region_stage<kFormRegions>("after claim: a fusion executor makes one kernel of lines that it has"),
    region_stage<kRematerialize>(
        "where regions are known: what each that reads a value computes for itself, rather than reads"),
    region_stage<kMergeSiblings>("last of the regions: those that are left and read the same values become one"),
    StageRow{"overlap", rewrite<overlap>, false,
             "when regions are made: what is computed before a collective starts, and while it runs"},
    StageRow{"lower", lower, true,
             "each line becomes a kernel of its executor; what all decline is claimed anew, so that memory is planned "
             "for what will run",
             kernels_report, Level::lowered},
    StageRow{"channels_last", channels_last, false,
             "after lower: kernels say in which order of dims they are fastest; plan_memory lays results out so",
             formats_report},
    StageRow{"plan_memory", plan_memory, true, "after lower: kernels say which operands they take, and may overwrite",
             memory_report},
    StageRow{"schedule", schedule, true,
             "after plan_memory: loops are ordered, tiled and divided for the layouts at hand", loops_report},
    StageRow{"join", join, false,
             "after schedule: steps that one launch may compute have their memory, and no code yet", joined_report},
    StageRow{"emit", emit, true, "after join: machine code of each kernel that is left, compiled by several threads",
             code_report},
    StageRow{"link", link, true, "what stays the same between calls is bound, and what runs once runs", steps_report},
    StageRow{"record_graph", record_graph, false, "with use_cudagraphs alone; of the steps as they are launched",
             graph_report},
};

// Executors' transforms were applied before the gradients were taken.
constexpr std::array kJointStages = {
    kVary, kGrad, kCse, kDce, kDescend, kFold, kCasts, kAlgebra, kReciprocals, kCsePrims, kDcePrims,
    StageRow{"partition", run_partition, true,
             "last: after descending, so that what a composite makes inside can be saved, and after cse_prims, so that "
             "no value is saved twice"},
};

}  // namespace

std::span<const StageRow> stages() { return kStages; }
std::span<const StageRow> joint_stages() { return kJointStages; }

}  // namespace thunder
