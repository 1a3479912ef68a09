#include "jit/run/run.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "jit/run/donations.h"
#include "ops/world_collectives.h"
#include "tensor/transfer.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

// A plain number given for a tensor; 8 bytes hold each kind.
union Number {
  double f;
  int64_t i;
  bool b;
};

SmallVector<Number, 8> collect_numbers(const Entry& entry, const Inputs& in) {
  SmallVector<Number, 8> numbers;
  numbers.resize_uninitialized(entry.leaves);
  for (size_t i = 0; i < entry.leaves; i++) {
    const uint32_t leaf = entry.bindings[i].leaf;
    const Tensor* t = in.tensor(leaf);
    if (const DimExpr* formula = entry.bindings[i].formula) numbers[i].i = integer_value(entry, *formula, in);
    else if (in.values && (*in.values)[leaf].kind == ArgKind::real) numbers[i].f = (*in.values)[leaf].f;
    else if (t->concrete()) continue;
    else if (const Arg& a = t->number_value(); a.kind == ArgKind::real) numbers[i].f = a.f;
    else if (a.kind == ArgKind::integer) numbers[i].i = a.i;
    else numbers[i].b = a.i != 0;
  }
  return numbers;
}

struct Range {
  const std::byte *begin, *end;
  explicit Range(const Tensor& t) {
    if (t.contiguous()) {
      begin = t.data(), end = begin + t.bytes();
      return;
    }
    const Extent e = extent({t.sizes(), t.type().rank()}, t.strides(), size_of(t.type().dtype));
    begin = t.data() + e.begin, end = t.data() + e.end;
  }
  bool overlaps(const Range& o) const { return begin < o.end && o.begin < end; }
};

}  // namespace

inline Tensor* ProgramRunner::input_tensor(const Entry& entry, const Inputs& in, size_t input) {
  const Binding& b = entry.bindings[input];
  if (b.captured) return b.captured.get();
  if (in.values && (*in.values)[b.leaf].kind != ArgKind::value) return nullptr;
  Tensor* t = in.tensor(b.leaf);
  return t->concrete() ? t : nullptr;
}

// A written tensor must be writable, and share no memory with another input: the trace took them for different ones.
// Captured tensors were compared with one another when the trace was made.
void ProgramRunner::check_writes(const Entry& entry, const Inputs& in) const {
  for (uint32_t w : entry.written) {
    Tensor* t = input_tensor(entry, in, w);
    if (!t) continue;
    require(!t->read_only(), function_.name(), ": input ", w,
            " is written in place, and its memory is read-only: pass a clone() of it");
    const Range written(*t);
    const size_t others = w < entry.leaves ? entry.bindings.size() : entry.leaves;
    for (size_t i = 0; i < others; i++) {
      Tensor* other = i == w ? nullptr : input_tensor(entry, in, i);
      require(
          !other || !written.overlaps(Range(*other)), function_.name(), ": inputs ", w, " and ", i,
          " overlap in memory, and the first is written in place; pass a copy, or a view taken inside the function");
    }
  }
}

// The caller's tensor `bound`, or a fresh one. `copy`: the result is to be copied from the fresh one to the caller's,
// which is strided or overlaps an input.
Ref<Tensor> ProgramRunner::result_tensor(const Entry& entry, const Inputs& in, size_t leaf, Tensor& bound,
                                    bool& copy) const {
  const DenseType& dense = entry.program->plan().outputs[entry.results[leaf].output];
  require(bound.concrete() && !bound.read_only() && bound.type() == dense.type, function_.name(), ": result ", leaf,
          " is ", name(dense.type), ", the tensor bound to it is ", bound.read_only() ? "read-only " : "",
          name(bound.type()));
  bool apart = bound.contiguous();
  const Range range(bound);
  for (size_t i = 0; i < entry.bindings.size() && apart; i++) {
    Tensor* other = input_tensor(entry, in, i);
    apart = !other || !range.overlaps(Range(*other));
  }
  if (apart) return Ref<Tensor>(&bound);
  copy = true;
  return allocate_result(dense);
}

// A call that begins after the write finds either the new values or the old version, and then waits here; those that
// run already end before.
Status* ProgramRunner::renew_frozen(const Entry& entry) {
  const auto is_current = [](Frozen& f) {
    return std::atomic_ref(f.seen).load(std::memory_order_acquire) == f.tensor->storage()->version();
  };
  if (std::all_of(entry.frozen.begin(), entry.frozen.end(), is_current)) return nullptr;
  std::lock_guard lock(renew_mutex_);
  if (std::all_of(entry.frozen.begin(), entry.frozen.end(), is_current)) return nullptr;
  if (Status* failed = entry.program->rerun_constant_steps()) return failed;
  for (Frozen& f : entry.frozen)
    std::atomic_ref(f.seen).store(f.tensor->storage()->version(), std::memory_order_release);
  return nullptr;
}

inline Ref<Tensor> ProgramRunner::allocate_result(const DenseType& type) const {
  if (type.type.device == Device::cpu) [[likely]] return Tensor::empty(context_.allocator(), type);
  return Tensor::empty(context_.devices().allocator(type.type.device), type);
}

// `callers`: some results are tensors of the caller's, whether they are made there or copied.
[[gnu::always_inline]] inline void ProgramRunner::make_results(const Entry& entry, const Inputs& in,
                                                               const Values* bound, ResultTensors& results, bool& copy,
                                                               bool& callers) const {
  const DenseType* dense = entry.program->plan().outputs.data();  // as results count up
  for (size_t leaf = 0; leaf < entry.results.size(); leaf++) {
    if (entry.results[leaf].output == ResultLeaf::kConstant) continue;
    Tensor* given = bound && leaf < bound->size() ? (*bound)[leaf].bound.get() : nullptr;
    callers |= given != nullptr;
    results.push(given ? result_tensor(entry, in, leaf, *given, copy) : allocate_result(*dense));
    dense++;
  }
}

Status* ProgramRunner::run(const Entry& entry, const Inputs& in, const Values* bound, ResultTensors& results,
                      InterruptCheck& check, void* stream) {
  try {
    Status* const failed = run_program(entry, in, bound, results, check, stream);
    if (failed) tell_other_ranks(entry, *failed);
    return failed;
  } catch (const Error& e) {
    tell_other_ranks(entry, *e.status());
    throw;
  }
}

// Ranks that wait for a collective which the program has not come to.
void ProgramRunner::tell_other_ranks(const Entry& entry, const Status& failed) {
  const auto axes = rank_axes(context_.registry()).get();
  if (!axes) return;
  const auto& nodes = entry.traces.back().nodes;
  const auto runs_one = [](const Node* n) { return n->executor && n->executor == kCollectivesExecutor; };
  if (std::any_of(nodes.begin(), nodes.end(), runs_one)) axes->give_up_after(failed);
}

// What is written here and not by a tape: in no_grad(), or as the caller bound it.
void ProgramRunner::tell_tapes(const Entry& entry, const Inputs& in, const Values* bound) {
  for (uint32_t w : entry.written)
    if (const Tensor* t = input_tensor(entry, in, w)) EagerScope::before_write(*t);
  for (size_t i = 0; bound && i < bound->size(); i++)
    if (const Ref<Tensor>& t = (*bound)[i].bound) EagerScope::before_write(*t);
}

Status* ProgramRunner::run_program(const Entry& entry, const Inputs& in, const Values* bound, ResultTensors& results,
                                   InterruptCheck& check, void* stream) {
  SmallVector<Number, 8> numbers;  // by input
  if (entry.numbers) numbers = collect_numbers(entry, in);
  std::shared_lock<std::shared_mutex> unchanged(renew_mutex_, std::defer_lock);
  if (!entry.frozen.empty()) {
    if (Status* failed = renew_frozen(entry)) return failed;
    unchanged.lock();
  }
  if (entry.writes) check_writes(entry, in);
  bool any_copy = false, callers = false;
  make_results(entry, in, bound, results, any_copy, callers);
  std::optional<Context::WriteTurn> turn;
  if (entry.writes) turn.emplace(context_);
  tell_tapes(entry, in, bound);
  const auto input = [&](uint32_t i) {  // never one that is captured
    Tensor* t = in.tensor(entry.bindings[i].leaf);
    return t && t->concrete() ? t->data() : reinterpret_cast<std::byte*>(&numbers[i]);
  };
  const auto output = [&](uint32_t i) { return results.get(i)->data(); };
  // The caller's stream and the library's wait for each other.
  if (stream)
    for (Accelerator* a : entry.program->accelerators())
      if (Status* failed = a->wait_for(stream)) return failed;
  std::optional<Donations> donations;
  Status* failed = nullptr;
  if (entry.donated.empty()) [[likely]] {
    failed = entry.program->run(input, output, check, callers);
  } else {
    donations.emplace(entry, in, context_.devices());
    const auto given = [&](uint32_t i) {
      std::byte* const copy = donations->data(i);
      return copy ? copy : input(i);
    };
    failed = entry.program->run(given, output, check, callers);
  }
  if (failed) return failed;
  if (stream)
    for (Accelerator* a : entry.program->accelerators())
      if (Status* failed = a->make_stream_wait(stream)) return failed;
  for (uint32_t w : entry.written)
    if (Tensor* t = input_tensor(entry, in, w)) t->bump();
  if (any_copy) copy_to_bound(entry, *bound, results);
  return nullptr;
}

// Results that could not be made in the caller's tensors (strided, or overlapping an input) are copied there.
void ProgramRunner::copy_to_bound(const Entry& entry, const Values& bound, ResultTensors& results) {
  for (size_t leaf = 0; leaf < entry.results.size() && leaf < bound.size(); leaf++) {
    const uint32_t output = entry.results[leaf].output;
    const Ref<Tensor>& t = bound[leaf].bound;
    if (output == ResultLeaf::kConstant || !t || results.get(output) == t.get()) continue;
    copy_elements(*results.get(output), *t);
    t->bump();
    results.replace(output, t);
  }
}

void ProgramRunner::fill_results(const Entry& entry, ResultTensors& results, Values& out) {
  if (out.size() != entry.results.size() || out.structure() != entry.result_structure) {
    // The first call with these values, or another program's: make the leaves, keep what is bound.
    std::vector<Leaf> leaves(entry.results.size());
    for (size_t i = 0; i < leaves.size(); i++) {
      if (entry.results[i].output == ResultLeaf::kConstant) leaves[i] = entry.results[i].constant;
      if (i < out.size()) leaves[i].bound = out[i].bound;
    }
    out.assign(std::move(leaves), entry.result_structure);
  }
  for (size_t i = 0; i < entry.results.size(); i++) {
    const uint32_t output = entry.results[i].output;
    if (output == ResultLeaf::kConstant) {
      Ref<Tensor> bound = out[i].bound;
      out[i] = entry.results[i].constant;
      out[i].bound = std::move(bound);
      continue;
    }
    out[i].kind = ArgKind::value;
    out[i].tensor = results.take(output);
  }
}

}  // namespace thunder
