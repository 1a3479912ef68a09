// Turns a tracing scope's record into a trace.
#include <algorithm>

#include "base/text.h"
#include "ir/prim.h"
#include "tracer/tracing.h"

namespace thunder {

// Memory that one input reads and another writes would show through; the trace does not know of it.
void TracingScope::refuse_overlaps(const Trace& trace) const {
  auto range = [](const Tensor& t) {
    Extent e = extent({t.sizes(), t.type().rank()}, t.strides(), size_of(t.type().dtype));
    return std::pair(t.data() + e.begin, t.data() + e.end);
  };
  for (const Write& w : trace.writes) {
    const Ref<Tensor>& written = layouts_[w.input];
    if (!written) continue;
    auto a = range(*written);
    for (size_t i = 0; i < layouts_.size(); i++) {
      if (i == w.input || !layouts_[i]) continue;
      auto b = range(*layouts_[i]);
      require(
          a.second <= b.first || b.second <= a.first, "inputs '", trace.inputs[w.input].name, "' and '",
          trace.inputs[i].name,
          "' overlap in memory, and the first is written in place; pass a copy, or a view taken inside the function");
    }
  }
}

std::vector<ValueId> TracingScope::roots(const Trace& trace) const {
  std::vector<ValueId> out(trace.store->size(), kNoValue);
  const Aliases& memory = recorder_->memory();
  for (const Input& in : trace.inputs) out[in.value] = memory.root(in.value);
  for (const Node* n : trace.nodes)
    for (ValueId r : n->results) out[r] = memory.root(r);
  return out;
}

void TracingScope::take_results(Values& results) {
  for (size_t i = 0; i < results.size(); i++)
    if (results[i].tensor && results[i].tensor->concrete())
      results[i].tensor = Ref<Tensor>(wrap(enter(results[i].tensor.get())));
}

// Whether nobody but this scope has the input's tensor any more: it was made while the function was traced, so that
// each call begins with what it held then. Memory that was lent is another's.
bool TracingScope::is_given_up(size_t input) {
  Ref<Tensor>& kept = captured_[input];
  if (!kept || !kept->concrete()) return false;
  layouts_[input] = nullptr;
  const bool alone = kept->unique() && kept->storage()->unique() && kept->storage()->owned();
  layouts_[input] = kept;
  return alone;
}

Trace TracingScope::finish(std::span<Tensor* const> outputs) {
  recorder_->build();
  std::vector<ValueId> values;
  for (Tensor* t : outputs) {
    const ValueId v = enter(t);
    // A live number among the results becomes a tensor, as by torch.tensor(number).
    const TensorType& type = recorder_->type(v);
    values.push_back(type.weak ? convert(recorder_->var(v), tensor_dtype(type.dtype)).id : v);
  }
  if (draws_) {
    Var state = recorder_->var(random_);
    recorder_->set_where(nullptr);
    Var next = recorder_->call(Prim::advance_random, {state, draws_});
    recorder_->memory().supersede(random_, next.id);
  }
  Trace trace = recorded(std::move(values));
  forget_values();
  std::erase_if(trace.writes, [&](const Write& w) { return is_given_up(w.input); });
  return trace;
}

Trace TracingScope::recorded(std::vector<ValueId> outputs) const {
  Trace trace;
  trace.outputs = std::move(outputs);
  trace.store = recorder_->shared_store();
  trace.function = function_;
  trace.pass = "trace";
  trace.inputs = inputs_;
  for (uint32_t i = 0; i < inputs_.size(); i++) {
    const ValueId now = recorder_->memory().latest(inputs_[i].value);
    if (now != inputs_[i].value) trace.writes.push_back({i, now});
  }
  trace.nodes = recorder_->nodes();
  refuse_overlaps(trace);
  return trace;
}

void TracingScope::restart(std::unique_ptr<TracingRecorder> recorder) {
  recorder_ = std::move(recorder);
  inputs_.clear();
  captured_.clear();
  layouts_.clear();
  std::fill(std::begin(counts_), std::end(counts_), 0);
  for (auto& [view, value] : by_view_) read_before_.insert(view);
  by_view_.clear();
  recent_ = {};
  live_floats_.clear();
  places_.clear();
  random_ = kNoValue;
}

}  // namespace thunder
