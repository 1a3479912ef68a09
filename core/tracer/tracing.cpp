#include "tracer/tracing.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "ir/dim_reads.h"
#include "tracer/needed.h"
#include "tracer/stand_ins.h"

namespace thunder {
namespace {

thread_local TracingScope* t_innermost = nullptr;

std::shared_ptr<Store> store_for(Scope* around) {
  auto* recorder = around ? dynamic_cast<Recorder*>(&around->builder()) : nullptr;
  if (auto* tracing = dynamic_cast<TracingRecorder*>(recorder)) tracing->build();
  return recorder ? recorder->shared_store() : std::make_shared<Store>();
}

}  // namespace

TracingScope::TracingScope(ScopeEnvironment environment, std::string function, Scope* around)
    : Scope(std::move(environment)),
      function_(std::move(function)),
      current_(around && around->tracing()),
      recorder_(std::make_unique<TracingRecorder>(*environment_.registry, store_for(around), *this)),
      around_(around),
      outer_(std::exchange(t_innermost, this)),
      first_word_(next_words()) {
  if (!around) return;
  access = around->access;
  autocast = around->autocast;
  around->traced_inside++;
}

// Proxies that outlive the scope report their type as seen.
TracingScope::~TracingScope() {
  t_innermost = outer_;
  const DimReads::Pause over;  // nothing is recorded any more
  if (around_) around_->traced_inside--;
  for (const Ref<Tensor>& t : symbolic_)
    for (Dim& d : const_cast<TensorType&>(t->type()).shape) d = hint(d);
  reset();
}

ValueId TracingScope::add_input(const TensorType& type, Source source, std::string name, Ref<Tensor> captured) {
  const bool laid_out = captured && captured->concrete();
  const ValueId v = recorder_->add_input(type, laid_out ? captured.get() : nullptr);
  inputs_.push_back({v, source, counts_[static_cast<size_t>(source)]++, std::move(name)});
  captured_.push_back(source == Source::argument ? nullptr : captured);
  recorder_->memory().hold(v);
  layouts_.push_back(laid_out ? std::move(captured) : nullptr);
  return v;
}

TracingScope::ViewKey TracingScope::key(const Tensor& t) const {
  SmallVector<int64_t, 9> layout(t.sizes(), t.sizes() + t.type().rank());
  for (int64_t stride : t.strides()) layout.push_back(stride);
  layout.push_back(static_cast<int64_t>(t.type().dtype));
  return {t.storage().get(), t.offset(), std::move(layout)};
}

bool TracingScope::ViewKey::operator<(const ViewKey& other) const {
  if (storage != other.storage) return std::less<>()(storage, other.storage);
  if (offset != other.offset) return offset < other.offset;
  return std::lexicographical_compare(layout.begin(), layout.end(), other.layout.begin(), other.layout.end());
}

// Tensors that are the same view of the same memory are one input, so that tied weights stay tied.
ValueId TracingScope::capture(Tensor* t, Source source, std::string_view name) {
  if (Tensor* other = stand_in(*t)) {
    if (!other->concrete()) return given(other);
    t = other, source = Source::constant, name = "";
  }
  Captured& recent = recent_[reinterpret_cast<uintptr_t>(t) / 64 % recent_.size()];
  if (recent.tensor == t) return recent.value;
  auto [it, fresh] = by_view_.try_emplace(key(*t), kNoValue);
  if (fresh) {
    it->second = add_input(t->type(), source, std::string(name), Ref<Tensor>(t));
    recent = {t, it->second};
  }
  return it->second;
}

std::vector<bool> TracingScope::reached(Tensor* loss, std::span<Tensor* const> tensors) {
  recorder_->build();
  const ValueId last = enter(loss);
  std::unordered_map<const Tensor*, ValueId> proxies;
  for (Tensor* t : tensors)
    if (t->kind() == Tensor::Kind::proxy) proxies.emplace(t, enter(t));
  ValueSet needed(recorder_->store().size());
  add_needed(recorder_->nodes(), last, needed);
  std::vector<bool> out;
  for (Tensor* t : tensors) {
    if (const auto proxy = proxies.find(t); proxy != proxies.end()) {
      out.push_back(needed.has(proxy->second));
      continue;
    }
    const auto it = t->concrete() ? by_view_.find(key(*t)) : by_view_.end();
    // Lines recorded before the last break are gone: the tensor may depend on everything that was read.
    out.push_back(it != by_view_.end() ? needed.has(it->second) : t->concrete() && read_before_.contains(key(*t)));
  }
  return out;
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

// Values that the outer scope has recorded so far are constants here, even if it writes to them later.
ValueId TracingScope::capture_around(Tensor* t) {
  const ValueId outer = around_->enter(t);
  auto [it, fresh] = captured_around_.try_emplace(outer, kNoValue);
  if (fresh) it->second = add_input(around_->builder().type(outer), Source::constant, "", Ref<Tensor>(t));
  return it->second;
}

std::vector<Tensor*> TracingScope::checkpointed(std::span<Tensor* const> inputs, const Body& body) {
  recorder_->build();
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
  // The memory keeps its strides, whatever is stored in it.
  recorder_->set_strides(memory.write(*recorder_, v, value), strides);
}

void TracingScope::require_current(const Tensor& t) {
  for (const TracingScope* s = t_innermost; s; s = s->outer_)
    if (s->has_written(t))
      thunder::fail(Code::proxy_has_no_data, "a tensor (", name(t.type()), ") was written by ", s->function_,
                    " while it is traced, and is read here: what was written has no data before the program runs. "
                    "Compute what depends on it by ops, such as where, or compile it with fullgraph = false");
}

bool TracingScope::has_written(const Tensor& t) const {
  if (!wrote_ || !t.storage()) return false;
  const Aliases& memory = recorder_->memory();
  // Borrowed memory has a storage for each time it was borrowed.
  const auto shares = [b = t.storage().get()](const Storage* a) {
    const bool overlap = a && a->data() < b->data() + b->bytes() && b->data() < a->data() + a->bytes();
    return a == b || (overlap && a->accelerator() == b->accelerator());
  };
  for (size_t i = 0; i < inputs_.size(); i++)
    if (captured_[i] && captured_[i]->concrete() && shares(captured_[i]->storage().get()) &&
        memory.latest(memory.root(inputs_[i].value)) != memory.root(inputs_[i].value))
      return true;
  return false;
}

Draw TracingScope::draw() {
  if (random_ == kNoValue) random_ = capture(environment_.random.get(), Source::constant, "random");
  return {recorder_->var(resolve(random_)), draws_++};
}

bool TracingScope::give_data(Tensor&, const char*) {
  if (reads_fail_) fail(Code::unimplemented, "the function reads a value");
  return false;
}

// Kept in the store, once.
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
  const Arg args[] = {Arg::value(loss), Arg::values(wrt)};
  return recorder_->add_gradient(args, {wrt.data(), wrt.size()});
}

std::vector<ValueId> TracingScope::gradient(ValueId loss, std::span<Tensor* const> wrt) {
  return record_gradient(loss, gradient_inputs(loss, wrt));
}

}  // namespace thunder
