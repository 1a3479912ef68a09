// Writes in place: what a tape holds of memory keeps its value, whoever writes there.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <thread>

#include "tensor/transfer.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

// All tapes and the threads that made them. Never freed: tapes may end with the process.
struct Tapes {
  std::mutex mutex;
  std::vector<std::pair<EagerScope*, std::thread::id>> all;
};
std::atomic<uint64_t> changes{0};  // of the list; 0: there never was a tape
Tapes& tapes() {
  static auto* const made = new Tapes;
  return *made;
}

// Those of this thread, found anew only when the list has changed: a step of an optimiser writes many tensors.
std::span<EagerScope* const> tapes_here() {
  thread_local uint64_t seen = 0;
  thread_local std::vector<EagerScope*> mine;
  if (changes.load(std::memory_order_acquire) == seen) return mine;
  const std::lock_guard lock(tapes().mutex);
  seen = changes;
  mine.clear();
  for (const auto& [tape, thread] : tapes().all)
    if (thread == std::this_thread::get_id()) mine.push_back(tape);
  return mine;
}

}  // namespace

EagerScope::EagerScope(ScopeEnvironment environment, bool taped)
    : Scope(std::move(environment)), builder_(environment_, taped) {
  if (!taped) return;
  const std::lock_guard lock(tapes().mutex);
  tapes().all.emplace_back(this, std::this_thread::get_id());
  changes++;
}

EagerScope::~EagerScope() {
  if (!builder_.taped()) return;
  const std::lock_guard lock(tapes().mutex);
  std::erase_if(tapes().all, [&](const auto& tape) { return tape.first == this; });
  changes++;
}

// What the tape holds of memory that is to be written must keep its value: it moves to a copy.
void EagerScope::keep_held(const Storage& memory) {
  for (ValueId held = 0; held < builder_.size(); held++) {
    const Ref<Tensor>& slot = builder_.tensor(held);
    if (slot && slot->storage().get() == &memory) builder_.replace(held, dense_copy(*slot));
  }
}

// The memory is a new value for its handles from here on, whose gradient passes to what it held as it is.
void EagerScope::keep_before_write(const Tensor& t) {
  if (builder_.size() == 0) return;
  Aliases& aliases = builder_.memory();
  std::vector<std::pair<ValueId, Ref<Tensor>>> written;
  for (const auto& [handle, given] : known_) {
    if (given == kNoValue || handle->storage() != t.storage()) continue;
    const ValueId old = aliases.latest(aliases.root(given));
    const auto is_old = [&](const auto& one) { return one.first == old; };
    if (std::none_of(written.begin(), written.end(), is_old)) written.emplace_back(old, builder_.tensor(old));
  }
  keep_held(*t.storage());
  for (const auto& [old, memory] : written) {
    Ref<Tensor> own = Tensor::view(memory->storage(), memory->type(), memory->strides(), memory->offset());
    if (memory->read_only()) own->set_read_only();
    const ValueId now = builder_.add(std::move(own));
    builder_.record_same(old, now);
    aliases.hold(now);
    aliases.supersede(old, now);
    before_[now] = old;
  }
}

void EagerScope::before_write(const Tensor& t, const EagerScope* by) {
  if (changes.load(std::memory_order_relaxed) == 0) return;
  for (EagerScope* tape : tapes_here()) {
    if (tape == by) continue;
    tape->note_for_undo(const_cast<Tensor&>(t));
    tape->keep_before_write(t);
  }
}

// A handle that the tape does not know any more is read as it is.
void EagerScope::note_for_undo(Tensor& t) {
  if (undoable_ == 0) return;
  const auto it = known_.find(&t);
  const bool lost = it != known_.end() && it->second == kNoValue;
  const ValueId now = lost ? builder_.add(Tensor::view(t.storage(), t.type(), t.strides(), t.offset())) : enter(&t);
  undo_.emplace_back(Ref<Tensor>(&t), now);
}

size_t EagerScope::begin_undoable() {
  undoable_++;
  return undo_.size();
}

void EagerScope::end_undoable() {
  if (--undoable_ == 0) undo_.clear();
}

// The latest first. The tape is told of it as of any other write.
void EagerScope::undo_writes(size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back()) {
    const auto& [t, value] = undo_.back();
    if (const auto it = known_.find(t.get()); it != known_.end() && it->second != kNoValue) {
      write_on_tape(t.get(), value);
      const Aliases& aliases = builder_.memory();
      if (!aliases.view_of(it->second)) before_[aliases.latest(it->second)] = value;
      continue;
    }
    keep_before_write(*t);
    copy_elements(*builder_.tensor(value), *t);
    t->bump();
  }
}

// The value by which the gradient of a handle's current value is taken.
ValueId EagerScope::differentiable(ValueId v) const {
  for (auto it = before_.find(v); it != before_.end(); it = before_.find(v)) v = it->second;
  return v;
}

// The tape records a functional version of the write; its newest value then is a view of the memory itself.
void EagerScope::write_on_tape(Tensor* x, ValueId value) {
  enter(x);
  const ValueId v = known_.at(x);
  Aliases& aliases = builder_.memory();
  const ValueId old = aliases.latest(aliases.root(v));
  const Ref<Tensor> memory = builder_.tensor(old);
  require(!repeats_elements(*memory), kExpanded);
  const ValueId now = aliases.write(builder_, v, value);
  keep_held(*x->storage());
  if (now != old) copy_elements(*builder_.tensor(now), *memory);
  builder_.replace(now, Tensor::view(memory->storage(), memory->type(), memory->strides(), memory->offset()));
  for (auto& [t, given] : known_)
    if (given != kNoValue && aliases.latest(aliases.root(given)) != now && t->storage() == x->storage())
      given = kNoValue;
  x->bump();
}

void EagerScope::write(Tensor* x, ValueId value) {
  require(x->concrete(), "only a tensor with data can be written in place");
  require(!x->read_only(), "this tensor's memory is read-only: write into a clone() of it");
  require(!repeats_elements(*x), kExpanded);
  before_write(*x, this);
  if (builder_.taped()) {
    note_for_undo(*x);
    return write_on_tape(x, value);
  }
  Ref<Tensor> source = builder_.tensor(value);
  // The source may overlap the target in another layout.
  if (source->storage() == x->storage()) source = dense_copy(*source);
  copy_elements(*source, *x);
  x->bump();
}

}  // namespace thunder
