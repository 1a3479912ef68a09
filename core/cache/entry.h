// What a compile makes: a program, what it was made for, and what must hold for a call to run it.
#pragma once

#include "cache/key.h"
#include "compile/compilation.h"
#include "ir/dim_reads.h"
#include "ir/stage_traces.h"
#include "program/program.h"
#include "tracer/scope.h"

namespace thunder {

// Where a program's input comes from when it is called.
struct Binding {
  static constexpr uint32_t kCaptured = 0xffffffff;
  uint32_t leaf = kCaptured;   // a leaf of the call's values
  Ref<Tensor> captured;        // or a tensor that the trace holds
  const DimExpr* formula = nullptr;  // or a number that integers of the call give; the leaf is one of them
};

// A leaf of the results: an output of the program, or a constant that the function returned.
struct ResultLeaf {
  static constexpr uint32_t kConstant = 0xffffffff;
  uint32_t output = kConstant;
  Leaf constant;
};

// The types and structure of the arguments when the program was compiled: all that a file needs of them.
struct EntryInputs {
  std::string structure;
  std::vector<Leaf> leaves;    // those that are neither tensor nor float; the others are empty
  std::vector<Sizes> strides;  // by leaf, of tensors that are not dense
};

// A captured tensor whose value a program was made for.
struct Frozen {
  Ref<Tensor> tensor;
  uint64_t seen = 0;  // the version of its memory
};

// The sizes of an argument for which a program was asked.
struct SizeRange {
  uint32_t leaf = 0, dim = 0;
  int64_t min = 0, max = 0;
};

// A symbolic integer among the leaves.
struct IntegerSymbol {
  int64_t symbol = 0;
  uint32_t leaf = 0;
};

struct Entry {
  Key key;
  std::vector<std::pair<size_t, double>> float_guards;  // floats that the function read as numbers
  mutable std::vector<GenerationGuard> guards;          // `seen` moves on when the facts still hold
  EntryInputs inputs;
  std::vector<Binding> bindings;  // by input of the trace: first the leaves, then what was captured
  mutable std::vector<Frozen> frozen;  // `seen` moves on when what depends on them is computed again
  size_t leaves = 0;              // how many of them are leaves
  std::vector<ResultLeaf> results;  // their outputs count up
  std::string result_structure;
  std::unique_ptr<Program> program;
  StageTraces traces;            // the recorded one, then one for each stage that changed it
  std::vector<StageTime> stages; // in the order in which they ran
  bool writes = false;           // writes tensors: calls queue
  bool numbers = false;          // some leaves are plain numbers
  bool held = false;             // what a call works on is kept alive meanwhile: code of the caller's runs
  std::vector<uint32_t> written; // the inputs that it writes
  std::vector<uint32_t> donated; // the leaves whose memory it may use, in order
  Ref<Tensor> gone;              // what those are afterwards
  // The symbolic trace that this program was compiled from, or null; its guards are guards of this program too.
  std::shared_ptr<const Entry> of;
  // Of a symbolic trace: the comparisons of symbols that were decided while tracing, and the sizes that were seen.
  std::vector<DimCondition> conditions;
  std::vector<SizeRange> ranges;
  // Of a symbolic trace: all integer leaves. Of a program: the integer leaves that may have any value, as long as the
  // conditions hold.
  std::vector<IntegerSymbol> integers;
  std::vector<int64_t> symbols;  // of a program with integers: what all symbols stood for
  std::string size_class;  // of a program whose lines were compiled for many sizes: for which; "": for these alone
  // Of a symbolic trace that writes tensors: for each value the value whose memory it shares.
  std::vector<ValueId> roots;
  double trace_ms = 0, passes_ms = 0, compile_ms = 0, plan_ms = 0;
};

// Whether what a program was guarded by still holds. A generation that moved while its facts stayed is adopted.
// `why` (may be null) gets the reason when it does not.
bool guards_hold(const Entry& entry, std::string* why);
// The value of a formula over a program's integers in a call.
int64_t integer_value(const Entry& entry, const DimExpr& formula, const Inputs& in);
// Whether what was decided by comparing integers that stand for any is decided so of these.
bool integer_conditions_hold(const Entry& entry, const Inputs& in);
// Whether floats that the trace read as numbers have their values of then.
bool floats_are_same(const Entry& entry, const Inputs& in);
// Whether no counter has changed since the last check: then no other guard has to be checked.
inline bool counters_unchanged(const Entry& e) {
  for (GenerationGuard& g : e.guards)
    if (g.counter->load(std::memory_order_acquire) != std::atomic_ref(g.seen).load(std::memory_order_relaxed))
      return false;
  return true;
}
// Whether a call with these inputs may run the program.
inline bool fits(const Entry& e, const Inputs& in) {
  return e.key.matches(in) && (e.float_guards.empty() || floats_are_same(e, in)) &&
         (counters_unchanged(e) || guards_hold(e, nullptr)) &&
         (!e.of || counters_unchanged(*e.of) || guards_hold(*e.of, nullptr)) &&
         (e.integers.empty() || integer_conditions_hold(e, in));
}
// Why a call with these inputs may not. `names`: of the inputs.
std::string explain_misfit(const Entry& e, const Inputs& in, std::span<const std::string> names);


}  // namespace thunder
