#include "tracer/tracing.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {

Draw TracingRecorder::draw() { return scope_.draw(); }

void TracingRecorder::recorded(const Node& node) {
  if (!def(node).view) return;
  const ValueId v = node.results[0];
  if (views_.size() <= v) views_.resize(v + 1);
  views_[v] = &node;
}

TracingScope::TracingScope(ScopeEnvironment environment, std::string function)
    : Scope(std::move(environment)),
      function_(std::move(function)),
      recorder_(*environment_.registry, std::make_shared<Store>(), *this) {}

TracingScope::~TracingScope() { reset(); }

ValueId TracingScope::add_input(const TensorType& type, Source source, std::string name, Ref<Tensor> captured) {
  ValueId v = recorder_.store().add(type);
  inputs_.push_back({v, source, counts_[static_cast<size_t>(source)]++, std::move(name)});
  captured_.push_back(source == Source::argument ? nullptr : captured);
  layouts_.push_back(std::move(captured));
  return v;
}

TracingScope::ViewKey TracingScope::key(const Tensor& t) const {
  std::vector<int64_t> layout(t.sizes(), t.sizes() + t.type().rank());
  layout.insert(layout.end(), t.strides().begin(), t.strides().end());
  layout.push_back(static_cast<int64_t>(t.type().dtype));
  return {t.storage().get(), t.offset(), std::move(layout)};
}

// Tensors that are the same view of the same memory are one input, so that tied weights stay tied.
ValueId TracingScope::capture(Tensor* t, Source source, std::string_view name) {
  auto [it, fresh] = by_view_.try_emplace(key(*t), kNoValue);
  if (fresh) it->second = add_input(t->type(), source, std::string(name), Ref<Tensor>(t));
  return it->second;
}

// Arguments are inputs of their own even when two are one tensor: the program is guarded by types, not by identity,
// and a call refuses overlaps where one of them is written.
Tensor* TracingScope::argument_proxy(const TensorType& type, std::string name, Ref<Tensor> like) {
  return wrap(add_input(type, Source::argument, std::move(name), std::move(like)));
}

Tensor* TracingScope::parameter(Tensor* t, std::string_view path) {
  if (!t->concrete()) return t;
  return wrap(capture(t, Source::parameter, path));
}

void TracingScope::guard(std::shared_ptr<const std::atomic<uint64_t>> counter, std::unique_ptr<Fact> fact) {
  auto it = std::find_if(guards_.begin(), guards_.end(), [&](auto& g) { return g.counter == counter; });
  if (it == guards_.end()) {
    const uint64_t seen = counter->load(std::memory_order_acquire);
    it = guards_.insert(it, GenerationGuard{std::move(counter), seen, {}});
  }
  if (fact) it->facts.push_back(std::move(fact));
}

ValueId TracingScope::enter(Tensor* t) {
  switch (t->kind()) {
    case Tensor::Kind::failed: throw Error(t->failure());
    case Tensor::Kind::concrete: return resolve(capture(t, Source::constant, ""));
    case Tensor::Kind::number: thunder::fail(Code::invalid_argument, "a plain number where a tensor is needed");
    case Tensor::Kind::proxy: break;
  }
  if (!t->owner()) thunder::fail(Code::expired, "a proxy was used after the function that it belongs to had been traced");
  require(t->owner() == this, "a proxy of another function being traced");
  return resolve(t->value());
}

Tensor* TracingScope::wrap(ValueId v) { return own(Tensor::proxy(recorder_.type(v), this, v)); }

ValueId TracingScope::latest(ValueId root) const {
  for (auto it = superseded_.find(root); it != superseded_.end(); it = superseded_.find(root)) root = it->second;
  return root;
}

ValueId TracingScope::root_of(ValueId v, std::vector<const Node*>* chain) const {
  for (const Node* n = recorder_.view_of(v); n; n = recorder_.view_of(v)) {
    if (chain) chain->push_back(n);
    v = n->args[0].v;
  }
  return v;
}

// What a handle that was given value `v` stands for now: if the memory that `v` is a view of was written since,
// the same view of what was written.
ValueId TracingScope::resolve(ValueId v) {
  if (superseded_.empty()) return v;
  std::vector<const Node*> chain;
  const ValueId root = root_of(v, &chain);
  ValueId now = latest(root);
  if (now == root) return v;
  for (size_t i = chain.size(); i-- > 0;) {
    std::vector<Arg> args(chain[i]->args.begin(), chain[i]->args.end());
    args[0].v = now;
    now = recorder_.invoke(def(*chain[i]), args)[0];
  }
  return now;
}

void TracingScope::write(Tensor* x, ValueId value) {
  require(x->kind() == Tensor::Kind::proxy || x->concrete(), "only a tensor can be written in place");
  require(!x->concrete() || !x->read_only(), "this tensor's memory is read-only");
  const ValueId recorded = x->concrete() ? capture(x, Source::constant, "") : x->value();
  std::vector<const Node*> chain;
  const ValueId root = root_of(recorded, &chain);
  // From the view back to the memory it is a view of: each view says how a write goes through it. The bases are the
  // current ones, from the root down to the view.
  ValueId base = latest(root);
  std::vector<ValueId> bases(chain.size());
  for (size_t i = chain.size(); i-- > 0;) {
    bases[i] = base;
    if (i == 0) break;
    std::vector<Arg> args(chain[i]->args.begin(), chain[i]->args.end());
    args[0].v = base;
    base = recorder_.invoke(def(*chain[i]), args)[0];
  }
  for (size_t i = 0; i < chain.size(); i++) {
    const OpDef& op = def(*chain[i]);
    require(op.write_through != nullptr, "cannot write in place through ", op.name());
    std::vector<Arg> args(chain[i]->args.begin(), chain[i]->args.end());
    args[0].v = bases[i];
    Call call(recorder_, op, args);
    value = op.write_through(call, bases[i], value);
  }
  // A fresh value, so that no other handle's value becomes this memory's.
  const bool shared = recorder_.view_of(value) || std::any_of(inputs_.begin(), inputs_.end(), [&](const Input& in) { return in.value == value; });
  if (shared) value = recorder_.call("prims.clone", {recorder_.var(value)}).id;
  if (latest(root) != value) superseded_[latest(root)] = value;
}

Draw TracingScope::draw() {
  if (random_ == kNoValue) random_ = capture(environment_.random.get(), Source::constant, "random");
  return {recorder_.var(resolve(random_)), draws_++};
}

// The loss was computed from an older version of what `wrt` stands for now.
void TracingScope::check_not_overwritten(ValueId loss, ValueId wrt, ValueId root) const {
  if (latest(root) == root) return;
  std::vector<bool> reaches(recorder_.type(loss).rank() + const_cast<TracingRecorder&>(recorder_).store().size());
  reaches[loss] = true;
  auto& nodes = const_cast<TracingRecorder&>(recorder_).nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    bool on = false;
    for (ValueId r : nodes[i]->results) on |= reaches[r];
    if (on) for_each_value(nodes[i]->args, [&](ValueId v) { reaches[v] = true; });
  }
  if (reaches[wrt]) return;
  for (ValueId v = root; v != latest(root); v = superseded_.at(v))
    require(!reaches[v], "grad: a tensor in wrt was written in place after the loss had used it; take the gradient before the write");
}

std::vector<ValueId> TracingScope::gradient(ValueId loss, std::span<Tensor* const> wrt) {
  const TensorType& type = recorder_.type(loss);
  require(type.rank() == 0 && is_real(type.dtype), "grad: the loss must be a 0-d tensor of a real dtype, got ", name(type));
  ValueList ids;
  std::vector<ValueId> results;
  for (Tensor* t : wrt) {
    const ValueId id = enter(t);
    require(is_real(recorder_.type(id).dtype), "grad: only real tensors have gradients, got ", name(recorder_.type(id)));
    check_not_overwritten(loss, id, root_of(t->concrete() ? capture(t, Source::constant, "") : t->value(), nullptr));
    ids.push_back(id);
  }
  for (ValueId id : ids) results.push_back(recorder_.store().add(recorder_.type(id)));
  const Arg args[] = {Arg::value(loss), Arg::values(ids)};
  recorder_.nodes().push_back(recorder_.store().node(&recorder_.registry().get("grad"), args, results, {}, recorder_.where()));
  return results;
}

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
      if (i == w.input || !layouts_[i] || layouts_[i] == written) continue;
      auto b = range(*layouts_[i]);
      require(a.second <= b.first || b.second <= a.first, "inputs '", trace.inputs[w.input].name, "' and '", trace.inputs[i].name,
              "' overlap in memory, and the first is written in place; pass a copy, or a view taken inside the function");
    }
  }
}

Trace TracingScope::finish(std::span<Tensor* const> outputs) {
  Trace trace;
  for (Tensor* t : outputs) trace.outputs.push_back(enter(t));
  if (draws_) {
    // One more call has drawn.
    Var state = recorder_.var(random_);
    recorder_.set_where(nullptr);
    Var next = recorder_.call("prims.advance_random", {state});
    superseded_[random_] = next.id;
  }
  trace.store = recorder_.shared_store();
  trace.function = function_;
  trace.pass = "trace";
  trace.inputs = inputs_;
  for (uint32_t i = 0; i < inputs_.size(); i++) {
    const ValueId now = latest(inputs_[i].value);
    if (now != inputs_[i].value) trace.writes.push_back({i, now});
  }
  trace.nodes = recorder_.nodes();
  refuse_overlaps(trace);
  return trace;
}

}  // namespace thunder
