#include "tracer/tracing.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/text.h"
#include "ir/dim_reads.h"
#include "ops/place_view.h"

namespace thunder {

Draw TracingRecorder::draw() { return scope_.draw(); }

namespace {

// Each scope has words of its own, so that one that was kept is none of another's.
constexpr int64_t kWordsOfScope = 1 << 20;
int64_t next_words() {
  static std::atomic<int64_t> scopes{0};
  return std::numeric_limits<int64_t>::min() + kWordsOfScope * (1 + scopes.fetch_add(1, std::memory_order_relaxed));
}

Sizes hints(std::span<const Dim> shape) {
  Sizes sizes;
  for (Dim d : shape) sizes.push_back(hint(d));
  return sizes;
}

}  // namespace

void TracingRecorder::enter(const OpDef& op) {
  reads_.push_back(DimReads::current() ? DimReads::current()->noted().size() : 0);
  Recorder::enter(op);
}

void TracingRecorder::abandon() {
  reads_.pop_back();
  Recorder::abandon();
}

namespace {

// Whether it is 2 or more whatever the sizes are.
bool is_two_or_more(const TracingScope& scope, Dim d, size_t depth = 0) {
  if (d.constant()) return d.value() >= 2;
  const DimExpr& e = *d.expr();
  if (e.op == DimOp::symbol) return scope.is_size(d);
  const auto at_least = [&](Dim part, int64_t least) {
    return part.constant() ? part.value() >= least : is_two_or_more(scope, part, depth + 1);
  };
  if (depth == 32) return false;
  if (e.op == DimOp::mul) return at_least(e.a, 1) && at_least(e.b, 1) && (at_least(e.a, 2) || at_least(e.b, 2));
  return e.op == DimOp::add && at_least(e.a, 0) && at_least(e.b, 0) && (at_least(e.a, 2) || at_least(e.b, 2));
}

}  // namespace

// An op that leaves no line may have found nothing to do for these sizes: what is more than a symbol could be 0 or 1
// for others.
Results TracingRecorder::leave(const OpDef& op, std::span<const Arg> args, const Results& results) {
  closed_ = false;
  const Results made = Recorder::leave(op, args, results);
  const size_t before = reads_.back();
  reads_.pop_back();
  DimReads* reads = DimReads::current();
  if (!reads) return made;
  if (closed_) return reads->forget_after(before), made;
  const auto note = [&](ValueId v) {
    for (Dim d : type(v).shape) {
      if (d.constant() || is_two_or_more(scope_, d)) continue;
      if (unnoted_hint(d) >= 2) compare(2, DimCondition::Is::at_most, d);
      else reads->note(d.expr());
    }
  };
  for_each_value(args, note);
  for (ValueId v : made) note(v);
  return made;
}

Sizes TracingRecorder::strides(ValueId v) const {
  const DimReads::Pause layout;  // matters to writes alone
  if (auto it = strides_.find(v); it != strides_.end()) return it->second;
  return dense_strides(hints(type(v).shape));
}

void TracingRecorder::recorded(const Node& node) {
  if (!def(node).view) return;
  const DimReads::Pause layout;
  // The layout is decided on plain integers, as at run time.
  std::vector<Shape> lists(node.args.size());
  std::vector<Arg> args(node.args.begin(), node.args.end());
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i].kind != ArgKind::dims) continue;
    for (Dim d : args[i].dim_list()) lists[i].push_back(hint(d));
    args[i] = Arg::dims(lists[i]);
  }
  const ValueId base = node.args[0].v;
  ViewOf v{strides(base)};
  if (!place_view(def(node), hints(type(base).shape), args, hints(type(node.results[0]).shape), v)) return;
  aliases_.add_view(node);
  strides_[node.results[0]] = v.strides;
}

namespace {

std::shared_ptr<Store> store_for(Scope* around) {
  auto* recorder = around ? dynamic_cast<Recorder*>(&around->builder()) : nullptr;
  return recorder ? recorder->shared_store() : std::make_shared<Store>();
}

}  // namespace

TracingScope::TracingScope(ScopeEnvironment environment, std::string function, Scope* around)
    : Scope(std::move(environment)),
      function_(std::move(function)),
      recorder_(std::make_unique<TracingRecorder>(*environment_.registry, store_for(around), *this)),
      around_(around),
      first_word_(next_words()) {
  if (!around) return;
  access = around->access;
  around->traced_inside++;
}

Dim TracingScope::integer(int64_t value) {
  integers_.push_back(symbol(value));
  return integers_.back();
}

bool TracingScope::is_size(Dim d) const {
  if (auto* tracing = dynamic_cast<const TracingScope*>(around_)) return tracing->is_size(d);
  return !d.constant() && d.expr()->op == DimOp::symbol &&
         std::find(integers_.begin(), integers_.end(), d) == integers_.end();
}

// A function that is called in another one, for a transform, has the words of that one, as it has its sizes.
int64_t TracingScope::word(Dim size) {
  if (size.constant()) return size.value();
  if (auto* tracing = dynamic_cast<TracingScope*>(around_)) return tracing->word(size);
  const auto it = std::find(words_.begin(), words_.end(), size);
  const auto number = it - words_.begin();
  require(number < kWordsOfScope, "a function may look at no more than ", kWordsOfScope, " sizes that stand for any");
  if (it == words_.end()) words_.push_back(size);
  return first_word_ + number;
}

Dim TracingScope::dim_of(int64_t word) const {
  if (word >= kWordsEnd) return word;
  if (auto* tracing = dynamic_cast<const TracingScope*>(around_)) return tracing->dim_of(word);
  require(word >= first_word_ && word - first_word_ < static_cast<int64_t>(words_.size()),
          "a size of another traced function, or no size at all");
  return words_[static_cast<size_t>(word - first_word_)];
}

Dim TracingScope::integer_of(int64_t given) const {
  if (auto* tracing = dynamic_cast<const TracingScope*>(around_)) return tracing->integer_of(given);
  return given >= kWordsEnd ||
                 (given >= first_word_ + kWordsOfScope || given < std::numeric_limits<int64_t>::min() + kWordsOfScope)
             ? Dim(given)
             : dim_of(given);
}

// A proxy that somebody keeps says what was seen.
TracingScope::~TracingScope() {
  const DimReads::Pause over;  // nothing is recorded any more
  if (around_) around_->traced_inside--;
  for (const Ref<Tensor>& t : symbolic_)
    for (Dim& d : const_cast<TensorType&>(t->type()).shape) d = hint(d);
  reset();
}

ValueId TracingScope::add_input(const TensorType& type, Source source, std::string name, Ref<Tensor> captured) {
  ValueId v = recorder_->store().add(type);
  inputs_.push_back({v, source, counts_[static_cast<size_t>(source)]++, std::move(name)});
  captured_.push_back(source == Source::argument ? nullptr : captured);
  recorder_->memory().hold(v);
  const bool laid_out = captured && captured->concrete();
  if (laid_out) recorder_->set_strides(v, captured->strides());
  layouts_.push_back(laid_out ? std::move(captured) : nullptr);
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

Tensor* TracingScope::float_proxy(double value, std::string name, size_t leaf, LeafReads& reads) {
  TensorType number;
  number.dtype = DType::f64;
  number.weak = true;
  const ValueId v = add_input(number, Source::argument, std::move(name), nullptr);
  live_floats_[v] = {value, leaf, &reads};
  return wrap(v);
}

bool TracingScope::is_around(const Tensor* t) const {
  const ProxyOwner* owner = t->kind() == Tensor::Kind::proxy ? t->owner() : nullptr;
  return around_ && owner && owner != this;
}

// What the scope around has recorded so far is a constant here, whatever is written there later.
ValueId TracingScope::capture_around(Tensor* t) {
  const ValueId outer = around_->enter(t);
  auto [it, fresh] = captured_around_.try_emplace(outer, kNoValue);
  if (fresh) it->second = add_input(around_->builder().type(outer), Source::constant, "", Ref<Tensor>(t));
  return it->second;
}

std::vector<Tensor*> TracingScope::checkpointed(std::span<Tensor* const> inputs, const Body& body) {
  ValueList given, results;
  for (Tensor* t : inputs)
    if (t) given.push_back(enter(t));
  const size_t before = recorder_->nodes().size();
  const auto first = static_cast<ValueId>(recorder_->store().size());
  std::vector<Tensor*> made = body();
  auto& nodes = recorder_->nodes();
  bool own = nodes.size() > before;
  for (Tensor* t : made) {
    const ValueId v = enter(t);
    own = own && v >= first && std::find(results.begin(), results.end(), v) == results.end();
    results.push_back(v);
  }
  if (!own || !recorder_->memory().close(results, first)) return made;
  const std::vector<const Node*> lines(nodes.begin() + static_cast<ptrdiff_t>(before), nodes.end());
  nodes.resize(before);
  const Arg args[] = {Arg::values(given), Arg::integer(static_cast<int64_t>(first))};
  nodes.push_back(
      recorder_->store().node(&recorder_->registry().get("checkpoint"), args, results, lines, recorder_->where()));
  return made;
}

Arg TracingScope::as_number(ValueId v) {
  for (const auto& [outer, inner] : captured_around_)
    if (inner == v) return around_->as_number(outer);
  const auto it = live_floats_.find(v);
  if (it == live_floats_.end()) return Arg::none();
  it->second.reads->read_as_number(it->second.leaf);
  return Arg::real(it->second.value);
}

Tensor* TracingScope::parameter(Tensor* t, std::string_view path) {
  if (!t->concrete()) return t;
  return wrap(capture(t, Source::parameter, path));
}

void TracingScope::guard(std::shared_ptr<const std::atomic<uint64_t>> counter, std::unique_ptr<Fact> fact) {
  if (around_) return around_->guard(std::move(counter), std::move(fact));
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
    case Tensor::Kind::concrete: return resolve(given(t));
    case Tensor::Kind::number: thunder::fail(Code::invalid_argument, "a plain number where a tensor is needed");
    case Tensor::Kind::proxy: break;
  }
  if (!t->owner())
    thunder::fail(Code::expired, "a proxy was used after the function that it belongs to had been traced");
  require(is_around(t) || t->owner() == this, "a proxy of another function being traced");
  return resolve(given(t));
}

ValueId TracingScope::given(Tensor* t) {
  if (t->concrete()) return capture(t, Source::constant, "");
  return is_around(t) ? capture_around(t) : t->value();
}

Tensor* TracingScope::wrap(ValueId v) {
  recorder_->memory().hold(v);
  Tensor* proxy = own(Tensor::proxy(recorder_->type(v), this, v));
  for (Dim d : proxy->type().shape) {
    if (d.constant()) continue;
    symbolic_.emplace_back(proxy);
    break;
  }
  return proxy;
}

void TracingScope::refuse_unwritable(const Tensor& t) const {
  require(!t.read_only(), "this tensor's memory is read-only: write into a clone() of it");
  require(!repeats_elements(t), kExpanded);
}

void TracingScope::write(Tensor* x, ValueId value) {
  require(x->kind() == Tensor::Kind::proxy || x->concrete(), "only a tensor can be written in place");
  wrote_ = true;
  const ValueId v = given(x);
  Aliases& memory = recorder_->memory();
  const ValueId old = memory.latest(memory.root(v));
  for (size_t i = 0; i < inputs_.size(); i++)
    if (layouts_[i] && memory.latest(inputs_[i].value) == old) refuse_unwritable(*layouts_[i]);
  const Sizes strides = recorder_->strides(old);
  const Shape& shape = recorder_->type(old).shape;
  for (size_t i = 0; i < strides.size(); i++) require(strides[i] != 0 || hint(shape[i]) <= 1, kExpanded);
  // The memory keeps its layout, whatever is stored.
  recorder_->set_strides(memory.write(*recorder_, v, value), strides);
}

Draw TracingScope::draw() {
  if (random_ == kNoValue) random_ = capture(environment_.random.get(), Source::constant, "random");
  return {recorder_->var(resolve(random_)), draws_++};
}

bool TracingScope::give_data(Tensor&, const char*) {
  if (reads_fail_) fail(Code::unimplemented, "the function reads a value");
  return false;
}

// In the store, once.
const char* TracingScope::layer_place(const char* where) {
  const std::string place = place_of(where);
  if (place.empty()) return nullptr;
  auto [it, fresh] = places_.try_emplace(place, nullptr);
  if (fresh) it->second = recorder_->store().text(place);
  return it->second;
}

ValueList TracingScope::gradient_inputs(ValueId loss, std::span<Tensor* const> wrt) {
  const TensorType& type = recorder_->type(loss);
  require(type.rank() == 0 && is_real(type.dtype), "grad: the loss must be a 0-d tensor of a real dtype, got ",
          name(type));
  ValueList ids;
  for (Tensor* t : wrt) {
    const ValueId id = enter(t);
    require(is_real(recorder_->type(id).dtype), "grad: only real tensors have gradients, got ",
            name(recorder_->type(id)));
    recorder_->memory().require_current(recorder_->nodes(), loss, id, given(t));
    ids.push_back(id);
  }
  return ids;
}

std::vector<ValueId> TracingScope::record_gradient(ValueId loss, const ValueList& wrt) {
  std::vector<ValueId> results;
  for (ValueId id : wrt) results.push_back(recorder_->store().add(recorder_->type(id)));
  const Arg args[] = {Arg::value(loss), Arg::values(wrt)};
  recorder_->nodes().push_back(
      recorder_->store().node(&recorder_->registry().get("grad"), args, results, {}, recorder_->where()));
  return results;
}

std::vector<ValueId> TracingScope::gradient(ValueId loss, std::span<Tensor* const> wrt) {
  return record_gradient(loss, gradient_inputs(loss, wrt));
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

Trace TracingScope::finish(std::span<Tensor* const> outputs) {
  std::vector<ValueId> values;
  for (Tensor* t : outputs) {
    const ValueId v = enter(t);
    // A live number that is handed out becomes a tensor, as torch.tensor(number) would.
    const TensorType& type = recorder_->type(v);
    values.push_back(type.weak ? convert(recorder_->var(v), tensor_dtype(type.dtype)).id : v);
  }
  if (draws_) {
    // One more call has drawn.
    Var state = recorder_->var(random_);
    recorder_->set_where(nullptr);
    Var next = recorder_->call("prims.advance_random", {state});
    recorder_->memory().supersede(random_, next.id);
  }
  return recorded(std::move(values));
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

void TracingScope::restart() {
  recorder_ = std::make_unique<TracingRecorder>(*environment_.registry, std::make_shared<Store>(), *this);
  inputs_.clear();
  captured_.clear();
  layouts_.clear();
  std::fill(std::begin(counts_), std::end(counts_), 0);
  by_view_.clear();
  live_floats_.clear();
  places_.clear();
  random_ = kNoValue;
}

}  // namespace thunder
