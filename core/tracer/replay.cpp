#include "tracer/replay.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/normal.h"
#include "tracer/replay_draws.h"
#include "tracer/replayed_sizes.h"
#include "tracer/tracing.h"

namespace thunder {
namespace {

// An op that counts by integers which stand for any is replayed line by line: what it is made of holds for all of them.
bool counts_by_symbols(const Node& n) {
  return def(n).has(kCounts) &&
         std::any_of(n.args.begin(), n.args.end(), [](const Arg& a) { return a.kind == ArgKind::symbolic; });
}

class Replay {
 public:
  Replay(Scope& scope, const Trace& trace, std::span<Tensor* const> inputs, ReplayCall& call)
      : scope_(scope),
        trace_(trace),
        call_(call),
        draws_(scope, trace),
        tensors_(trace.store->size(), nullptr),
        roots_(trace.store->size(), kNoValue) {
    if (knows_symbols(scope, trace)) words_ = static_cast<TracingScope*>(&scope);
    std::vector<const TensorType*> types;
    for (size_t i = 0; i < inputs.size(); i++) {
      tensors_[trace.inputs[i].value] = inputs[i];
      roots_[trace.inputs[i].value] = trace.inputs[i].value;
      types.push_back(inputs[i] ? &inputs[i]->type() : nullptr);
    }
    if (!words_) sizes_.emplace(trace, types, call);
    for (size_t i = 0; i < inputs.size() && !call.roots.empty(); i++)
      if (inputs[i])
        new_roots_[trace.inputs[i].value] = memory_root(inputs[i]),
        old_roots_[memory_root(inputs[i])] = trace.inputs[i].value;
  }

  std::vector<Tensor*> run() {
    for (const Node* n : trace_.nodes) {
      if (n->op->name() == "region")
        for (const Node* inner : n->body) replay_line(*inner);
      else
        replay_line(*n);
    }
    draws_.make(std::max(call_.draws, draws_.recorded()));
    return finish();
  }

 private:
  void check() const {
    if (scope_.status()) throw Error(scope_.status());
  }

  Tensor* tensor_at(ValueId v) const {
    require(tensors_[v] != nullptr, "the trace reads the random state after the call, which no function has");
    return tensors_[v];
  }

  void replay_line(const Node& n) {
    if (draws_.makes_state(n)) return;
    if (!n.body.empty() && draws_.shares(n)) {
      for (const Node* inner : n.body) replay_line(*inner);
      return;
    }
    if (!trace_.writes.empty()) note_roots(n);
    if (counts_by_symbols(n)) {
      for (const Node* inner : n.body) replay_line(*inner);
      return;
    }
    if (n.op->name() == "checkpoint") return replay_checkpoint(n);
    if (n.op->name() == "grad") return replay_gradient(n);
    std::optional<Drawn> drawn;
    if (n.op->prim) drawn = draws_.draw(n);
    else draws_.pass(n);
    check();
    if (drawn) tensors_[drawn->of] = drawn->state;
    collect_arguments(n);
    if (drawn) args_[static_cast<size_t>(n.op->schema.find("ordinal"))] = Any::integer(drawn->ordinal);
    std::vector<Tensor*> out(n.results.size(), nullptr);
    std::optional<DimReads::Again> again;  // a line looks at sizes again when it is made for others
    if (words_ && n.op->prim) again.emplace();
    scope_.invoke(n.op->name(), args_, nullptr, out.data(), out.size(), intern_place(n.where));
    check();
    if (drawn) tensors_[drawn->of] = nullptr;
    for (size_t i = 0; i < out.size(); i++) bind_result(n, n.results[i], out[i]);
  }

  // What is recorded may outlive this trace, whose texts go with it. Many lines have one place.
  const char* intern_place(const char* where) {
    auto* recorder = dynamic_cast<Recorder*>(&scope_.builder());
    if (!where || !recorder) return where;
    auto [it, fresh] = places_.try_emplace(where, nullptr);
    if (fresh) it->second = recorder->store().text(where);
    return it->second;
  }

  void bind_result(const Node& n, ValueId v, Tensor* made) {
    const TensorType& was = trace_.type(v);
    bool same = made->type().dtype == was.dtype && made->type().rank() == was.rank();
    for (size_t i = 0; same && i < was.rank(); i++) same = sizes_agree(made->type().shape[i], was.shape[i]);
    require(same, n.op->name(), ": the trace says that its result is ", name(was), ", for these inputs it is ",
            name(made->type()));
    tensors_[v] = made;
    if (!call_.roots.empty()) check_same_memory(n, v, made);
  }

  // Whether two sizes agree: as formulas, or by the values that were seen.
  bool sizes_agree(Dim made, Dim was) {
    if (made == was) return true;
    const Dim size = words_ ? was : (*sizes_)(was);
    return made == size || Product(Shape{made}) == Product(Shape{size}) || is_equal(made, size);
  }

  // The integer as callers give it to ops: a word where it is a symbol of the scope, else its value in this call.
  int64_t integer_argument(Dim d) {
    if (words_) return words_->word(d);
    const Dim size = (*sizes_)(d);
    return size.constant() ? size.value() : static_cast<TracingScope&>(scope_).word(size);
  }

  ValueId memory_root(Tensor* t) const {
    auto* recorder = dynamic_cast<TracingRecorder*>(&scope_.builder());
    require(recorder != nullptr, "it writes tensors, which this scope does not record");
    return recorder->memory().root(scope_.enter(t));
  }

  // A write reaches the same values for these sizes as when the trace was recorded.
  void check_same_memory(const Node& n, ValueId v, Tensor* made) {
    if (call_.roots[v] == kNoValue) return;
    const ValueId was = call_.roots[v], now = memory_root(made);
    const bool same =
        new_roots_.try_emplace(was, now).first->second == now && old_roots_.try_emplace(now, was).first->second == was;
    require(same, n.op->name(), ": its result lies in other memory than it did for the sizes of the trace");
  }

  void replay_checkpoint(const Node& n) {
    std::vector<Tensor*> inputs;
    for (ValueId v : n.args[0].value_list())
      if (v != draws_.state()) inputs.push_back(tensor_at(v));
    const std::vector<Tensor*> made = scope_.checkpointed(inputs, [&] {
      for (const Node* inner : n.body) replay_line(*inner);
      std::vector<Tensor*> out;
      for (ValueId r : n.results) out.push_back(tensor_at(r));
      return out;
    });
    for (size_t i = 0; i < made.size(); i++) bind_result(n, n.results[i], made[i]);
  }

  void replay_gradient(const Node& n) {
    Values wrt;
    for (ValueId v : n.args[1].value_list()) wrt.push(Ref<Tensor>(tensor_at(v)));
    Values* gradients = scope_.grad(tensor_at(n.args[0].v), wrt);
    check();
    for (size_t i = 0; i < n.results.size(); i++) bind_result(n, n.results[i], (*gradients)[i].tensor.get());
  }

  // Notes the memory of a view's result, so that values read later are copied before that memory is written.
  void note_roots(const Node& n) {
    for (const Node* inner : n.body) note_roots(*inner);
    for (ValueId r : n.results)
      if (roots_[r] == kNoValue) roots_[r] = def(n).view ? roots_[n.args[0].v] : r;
  }

  // Lists must not move while they are pointed to.
  void collect_arguments(const Node& n) {
    args_.clear(), dims_.clear(), lists_.clear();
    size_t n_dims = 0, n_values = 0;
    for (const Arg& a : n.args) {
      if (a.kind == ArgKind::dims) n_dims += a.count;
      if (a.kind == ArgKind::values) n_values += a.count;
    }
    dims_.reserve(n_dims), lists_.reserve(n_values);
    for (size_t i = 0; i < n.args.size(); i++)
      args_.push_back(replay_argument(n.args[i], n.op->schema.params[i].kind == ParamKind::tensor));
  }
  // `beside_tensors`: where a number may be live.
  Any replay_argument(const Arg& a, bool beside_tensors) {
    if (a.kind == ArgKind::symbolic) {
      const auto it = std::find(call_.formulas.begin(), call_.formulas.end(), a.dim());
      const bool live = beside_tensors && it != call_.formulas.end() && !call_.numbers.empty();
      return live ? Any::tensor(call_.numbers[static_cast<size_t>(it - call_.formulas.begin())])
                  : Any::integer(integer_argument(a.dim()));
    }
    Any any;
    any.kind = a.kind, any.count = a.count, any.i = a.i;
    if (a.kind == ArgKind::value) return Any::tensor(tensor_at(a.v));
    if (a.kind == ArgKind::dims) {
      any.d = dims_.data() + dims_.size();
      for (Dim d : a.dim_list()) dims_.push_back(integer_argument(d));
    }
    if (a.kind == ArgKind::values) {
      any.ts = lists_.data() + lists_.size();
      for (ValueId v : a.value_list()) lists_.push_back(tensor_at(v));
    }
    return any;
  }

  Tensor* clone_value(ValueId v) {
    const Any x = Any::tensor(tensor_at(v));
    Tensor* copy = scope_.invoke("clone", {&x, 1}, nullptr, nullptr, 0, nullptr);
    check();
    return copy;
  }

  std::vector<Tensor*> finish() {
    std::unordered_set<ValueId> written;
    for (const Write& w : trace_.writes)
      if (trace_.inputs[w.input].value != draws_.state()) written.insert(trace_.inputs[w.input].value);
    const auto safe = [&](ValueId v) { return written.count(roots_[v]) ? clone_value(v) : tensor_at(v); };
    std::vector<Tensor*> outputs;
    for (ValueId v : trace_.outputs) outputs.push_back(safe(v));
    std::vector<std::pair<Tensor*, Tensor*>> writes;
    for (const Write& w : trace_.writes)
      if (const ValueId to = trace_.inputs[w.input].value; to != draws_.state())
        writes.emplace_back(tensor_at(to), safe(w.value));
    for (auto& [to, value] : writes) scope_.run_formulas([&] { scope_.write(to, scope_.enter(value)); });
    check();
    return outputs;
  }

  Scope& scope_;
  const Trace& trace_;
  ReplayCall& call_;
  ReplayedDraws draws_;
  std::vector<Tensor*> tensors_;  // by value of the trace
  std::vector<ValueId> roots_;
  std::unordered_map<ValueId, ValueId> new_roots_, old_roots_;  // what in this scope is a root of the trace, and back
  std::optional<ReplayedSizes> sizes_;  // where they are not the scope's own
  TracingScope* words_ = nullptr;  // a scope that knows the symbols; null: they stand for others here
  std::unordered_map<const char*, const char*> places_;
  std::vector<Any> args_;
  std::vector<int64_t> dims_;
  std::vector<Tensor*> lists_;
};

}  // namespace

bool knows_symbols(Scope& scope, const Trace& trace) {
  auto* tracing = dynamic_cast<TracingScope*>(&scope);
  return tracing && static_cast<Recorder&>(tracing->builder()).shared_store() == trace.store;
}

namespace {

void visit_numbers(const Node& n, const std::function<void(Dim)>& f) {
  if (counts_by_symbols(n) || n.op->name() == "checkpoint" || n.op->name() == "region")
    for (const Node* inner : n.body) visit_numbers(*inner, f);
  for (size_t i = 0; i < n.args.size(); i++)
    if (n.args[i].kind == ArgKind::symbolic && n.op->schema.params[i].kind == ParamKind::tensor && !def(n).has(kCounts))
      f(n.args[i].dim());
}

}  // namespace

void for_each_number(const Trace& trace, const std::function<void(Dim)>& f) {
  for (const Node* n : trace.nodes) visit_numbers(*n, f);
}

std::vector<Tensor*> replay(Scope& scope, const Trace& trace, std::span<Tensor* const> inputs, ReplayCall* call) {
  ReplayCall none;
  return Replay(scope, trace, inputs, call ? *call : none).run();
}

}  // namespace thunder
