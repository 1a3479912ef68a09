#include "jit/eager/prims/key.h"

#include <algorithm>

#include "base/hash.h"

namespace thunder {
namespace {

bool is_type_of(const TensorType& t, const Buffer& b) {
  if (t.dtype != b.dtype || t.device != b.device || t.rank() != static_cast<size_t>(b.rank)) return false;
  for (size_t i = 0; i < t.rank(); i++)
    if (t.shape[i] != b.shape[i]) return false;
  return true;
}

}  // namespace

EagerKey::EagerKey(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in,
                   std::span<const Buffer> out) {
  std::vector<Arg> copies(args.begin(), args.end());
  std::vector<ValueId> results;
  std::vector<std::vector<ValueId>> lists(copies.size());
  size_t next = 0;
  for (size_t i = 0; i < copies.size(); i++) {
    const size_t count = inputs_of(copies[i], op.schema.params[i]);
    if (copies[i].kind == ArgKind::value) copies[i].v = add(in[next]);
    if (copies[i].kind == ArgKind::values) {
      for (size_t k = 0; k < count; k++) lists[i].push_back(add(in[next + k]));
      copies[i] = Arg::values(lists[i]);
    }
    next += count;
  }
  for (const Buffer& b : out) results.push_back(add(b));
  for (const Buffer& b : in) on_device_ = on_device_ || b.device != Device::cpu;
  for (const Buffer& b : out) on_device_ = on_device_ || b.device != Device::cpu;
  if (on_device_)
    for (const Buffer& b : in) strides_.insert(strides_.end(), b.strides, b.strides + std::max(b.rank, 0));
  node_ = store_.node(&op, copies, results, {}, nullptr);
}

uint64_t EagerKey::hash(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in) {
  uint64_t h = reinterpret_cast<uintptr_t>(&op);
  for (const Arg& a : args)
    if (a.kind == ArgKind::values) h = mix(h, a.value_list().size());
    else if (a.kind != ArgKind::value) h = thunder::hash(a, h);
  for (const Buffer& b : in) {
    h = mix(h, static_cast<uint64_t>(b.dtype) << 8 | static_cast<uint64_t>(b.rank) |
                   static_cast<uint64_t>(b.device) << 32);
    for (int32_t i = 0; i < b.rank; i++) h = mix(h, static_cast<uint64_t>(b.shape[i]));
    if (b.device == Device::cpu) continue;
    for (int32_t i = 0; i < b.rank; i++) h = mix(h, static_cast<uint64_t>(b.strides[i]));
  }
  return h;
}

bool EagerKey::matches(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in) const {
  if (node_->op != &op || node_->args.size() != args.size()) return false;
  for (size_t i = 0, next = 0; i < args.size(); i++) {
    const Arg &mine = node_->args[i], &given = args[i];
    if (mine.kind != given.kind) return false;
    const size_t count = inputs_of(given, op.schema.params[i]);
    if (given.kind == ArgKind::value) {
      if (!is_type_of(store_.type(mine.v), in[next])) return false;
    } else if (given.kind == ArgKind::values) {
      if (mine.value_list().size() != count) return false;
      for (size_t k = 0; k < count; k++)
        if (!is_type_of(store_.type(mine.value_list()[k]), in[next + k])) return false;
    } else if (!same(mine, given)) {
      return false;
    }
    next += count;
  }
  return !on_device_ || has_strides(in);
}

bool EagerKey::has_strides(std::span<const Buffer> in) const {
  size_t next = 0;
  for (const Buffer& b : in)
    for (int32_t i = 0; i < b.rank; i++)
      if (next == strides_.size() || strides_[next++] != b.strides[i]) return false;
  return next == strides_.size();
}

ValueId EagerKey::add(const Buffer& b) {
  TensorType t;
  t.dtype = b.dtype, t.device = b.device;
  for (int32_t i = 0; i < b.rank; i++) t.shape.push_back(b.shape[i]);
  return store_.add(t);
}

}  // namespace thunder
