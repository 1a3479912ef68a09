// thunder_values_*: building a tree of leaves, and reading it.
#include <cmath>

#include "capi/context.h"
#include "capi/leaf.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// Reading does not change what the values mean, only whether an error sticks.
Values* as_mutable(const thunder_values* values) {
  return const_cast<Values*>(core(values));
}

const Leaf& leaf_at(const Values& values, size_t leaf) {
  check(leaf < values.size(), "there is no leaf ", leaf, ", there are ", values.size());
  return values[leaf];
}

[[noreturn]] void fail_wrong_kind(size_t leaf, const Leaf& l, std::string_view wanted) {
  throw Refusal{Code::invalid_argument, cat("leaf ", leaf, " is ", kind_name(l.kind), ", not ", wanted)};
}

int64_t integer(size_t leaf, const Leaf& l) {
  if (l.kind == ArgKind::integer || l.kind == ArgKind::boolean || l.kind == ArgKind::dtype || l.kind == ArgKind::device)
    return l.i;
  // Integers below 2^53 are exact as doubles, and bindings whose only number type is double send them so.
  if (l.kind == ArgKind::real && l.f == std::trunc(l.f) && std::fabs(l.f) < 0x1p53) return static_cast<int64_t>(l.f);
  fail_wrong_kind(leaf, l, "an integer");
}

double real(size_t leaf, const Leaf& l) {
  if (l.kind == ArgKind::real) return l.f;
  if (l.kind == ArgKind::integer || l.kind == ArgKind::boolean) return static_cast<double>(l.i);
  fail_wrong_kind(leaf, l, "a float");
}

// Without its tensor, of which the caller gets a handle.
Any leaf_to_any(const Leaf& l) {
  Any a;
  switch (l.kind) {
    case ArgKind::real:
      return Any::real(l.f);
    case ArgKind::string:
      return Any::string(l.text);
    case ArgKind::dims:
      return Any::dims(l.ints);
    case ArgKind::reals:
      a.kind = ArgKind::reals, a.count = static_cast<uint32_t>(l.reals.size()), a.fs = l.reals.data();
      return a;
    default:
      a.kind = l.kind, a.i = l.i;
      return a;
  }
}

}  // namespace

extern "C" {

thunder_status* thunder_values_create(thunder_context* context, thunder_values** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    *out = given(make<Values>());
  }));
}

thunder_values* thunder_values_retain(thunder_values* values) noexcept {
  return retained(values);
}
void thunder_values_release(thunder_values* values) noexcept {
  Values* const v = core(values);
  if (!v || !v->lent || !v->unique()) return released(values);
  run_unless_failed(v, __func__, [] {
    throw Refusal{Code::failed_precondition,
                  "these values were lent, and not retained before: their owner releases them"};
  });
}

void thunder_values_reset(thunder_values* values) noexcept {
  if (auto* const object = core(values)) object->reset();
}

void thunder_values_push(thunder_values* values, const thunder_any* leaf) noexcept {
  run_unless_failed(core(values), __func__, [&] {
    need(leaf, "leaf");
    const CoreLeaves leaves("the leaf", leaf, 1);
    Any given = leaves[0];
    if (given.kind == kUnsigned && given.i >= 0) given.kind = ArgKind::integer;
    check(given.kind != kUnsigned, "the leaf: an integer that i64 does not hold is given as a tensor of u64");
    const char* fault = find_fault(given);
    check(!fault, "the leaf: ", fault);
    core(values)->push(given);
  });
}

void thunder_values_push_tensor(thunder_values* values, thunder_tensor* tensor) noexcept {
  Values* const v = core(values);
  run_unless_failed(v, __func__, [&] {
    need_if_given(tensor, "tensor");
    v->push(Ref<Tensor>(core(tensor)));
  });
}

void thunder_values_key(thunder_values* values, const char* name) noexcept {
  run_unless_failed(core(values), __func__, [&] {
    need(name, "name");
    core(values)->key(name);
  });
}

void thunder_values_open(thunder_values* values, int32_t is_map, const char* type_tag) noexcept {
  run_unless_failed(core(values), __func__, [&] { core(values)->open(is_map != 0, type_tag ? type_tag : ""); });
}

void thunder_values_close(thunder_values* values) noexcept {
  run_unless_failed(core(values), __func__, [&] { core(values)->close(); });
}

void thunder_values_set_tensor(thunder_values* values, size_t leaf, thunder_tensor* tensor) noexcept {
  run_unless_failed(core(values), __func__, [&] {
    need(tensor, "tensor");
    core(values)->set_tensor(leaf, Ref<Tensor>(core(tensor)));
  });
}

void thunder_values_bind(thunder_values* values, size_t leaf, thunder_tensor* tensor) noexcept {
  run_unless_failed(core(values), __func__, [&] {
    need_if_given(tensor, "tensor");
    core(values)->bind(leaf, Ref<Tensor>(core(tensor)));
  });
}

size_t thunder_values_count(const thunder_values* values) noexcept {
  const auto* const object = core(values);
  return object ? object->size() : 0;
}

size_t thunder_values_find(const thunder_values* values, const char* path) noexcept {
  size_t found = SIZE_MAX;
  if (path) run_unless_failed(as_mutable(values), __func__, [&] { found = core(values)->find(path); });
  return found;
}

const char* thunder_values_structure(const thunder_values* values) noexcept {
  Values* const v = as_mutable(values);
  if (!v) return "";
  run_unless_failed(v, __func__, [&] { check(v->complete(), "a group is still open; close it first"); });
  return v->structure().c_str();
}

const char* thunder_values_path(thunder_values* values, size_t leaf) noexcept {
  const char* found = nullptr;
  run_unless_failed(core(values), __func__, [&] { found = core(values)->path(leaf); });
  return found;
}

thunder_kind thunder_values_kind(const thunder_values* values, size_t leaf) noexcept {
  const Values* const v = core(values);
  return v && leaf < v->size() ? static_cast<thunder_kind>((*v)[leaf].kind) : THUNDER_NONE;
}

thunder_tensor* thunder_values_tensor(const thunder_values* values, size_t leaf) noexcept {
  const Values* const v = core(values);
  if (!v) return handle(lasting_failure(Lasting::no_values));
  return handle(value_or(lasting_failure(Lasting::no_memory), [&] { return v->tensor(leaf); }));
}

int64_t thunder_values_i64(const thunder_values* values, size_t leaf) noexcept {
  int64_t value = 0;
  run_unless_failed(as_mutable(values), __func__, [&] {
    value = integer(leaf, leaf_at(*core(values), leaf));
    core(values)->note_read(leaf);
  });
  return value;
}

thunder_dim thunder_values_dim(const thunder_values* values, size_t leaf) noexcept {
  int64_t value = 0;
  run_unless_failed(as_mutable(values), __func__, [&] {
    const Leaf& l = leaf_at(*core(values), leaf);
    value = integer(leaf, l);
    if (l.word)
      value = l.word;
    else
      core(values)->note_read(leaf);
  });
  return value;
}

double thunder_values_f64(const thunder_values* values, size_t leaf) noexcept {
  double value = 0;
  run_unless_failed(as_mutable(values), __func__, [&] {
    value = real(leaf, leaf_at(*core(values), leaf));
    core(values)->note_read(leaf);
  });
  return value;
}

const char* thunder_values_str(const thunder_values* values, size_t leaf, size_t* bytes) noexcept {
  const char* text = nullptr;
  run_unless_failed(as_mutable(values), __func__, [&] {
    const Leaf& l = leaf_at(*core(values), leaf);
    if (l.kind != ArgKind::string) fail_wrong_kind(leaf, l, "a string");
    core(values)->note_read(leaf);
    if (bytes) *bytes = l.text.size();
    text = l.text.c_str();
  });
  return text;
}

thunder_status* thunder_values_get(const thunder_values* values, size_t leaf, thunder_any* out) noexcept {
  return given(guarded(__func__, [&] {
    need(values, "values"), need(out, "out");
    const Leaf& l = leaf_at(*core(values), leaf);
    core(values)->note_read(leaf);
    *core(out) = leaf_to_any(l);
    if (l.kind == ArgKind::value) out->u.t = handle_or_throw(l.tensor.get());
  }));
}

thunder_status* thunder_values_status(const thunder_values* values) noexcept {
  return given(guarded(__func__, [&] {
    need(values, "values");
    if (core(values)->status()) throw Error(core(values)->status());
  }));
}

}  // extern "C"
