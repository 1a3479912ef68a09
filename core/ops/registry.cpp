#include "ops/registry.h"

#include "base/hash.h"
#include "base/text.h"
#include "ir/prim.h"
#include "ops/world_collectives.h"
#include "ops/declare.h"

namespace thunder {

#define THUNDER_OPS_FILE(stem) extern const OpRows stem##_ops;
#include "ops/ops.inc"
#undef THUNDER_OPS_FILE

OpDef::OpDef(const OpRow& row)
    : Op(parse_schema(row.schema.text)),
      doc(row.doc),
      nondiff(row.nondiff),
      alias_of(row.alias_of),
      variant(row.variant),
      meta(row.meta),
      reference(row.reference),
      decompose(row.decompose),
      vjp(row.vjp),
      batch(row.batch),
      view(row.view),
      write_through(row.write_through),
      samples(row.samples),
      tags(row.tags),
      autocast(row.autocast),
      ranks(row.ranks),
      multiply_adds(row.multiply_adds),
      widens(!row.view && !(row.tags & kAnyElement)) {
  prim = row.decompose == nullptr;
  if (prim) id = find_prim(name());
}

Registry::Registry() {
  const auto axes = std::make_shared<RankAxesSlot>();
  const auto add_row = [&](const OpRow& row) {
    const OpDef& op = row.ranks ? add(std::make_unique<CollectiveOp>(row, axes)) : add(row);
    if (op.id != Prim::none) prims_[static_cast<size_t>(op.id)] = &op;
  };
#define THUNDER_OPS_FILE(stem) for (auto& row : stem##_ops) add_row(row);
#include "ops/ops.inc"
#undef THUNDER_OPS_FILE
}

const OpDef& Registry::add(std::unique_ptr<OpDef> op) {
  std::lock_guard lock(mutex_);
  require(!find(op->name()), "op '", op->name(), "' is already registered");
  const std::string_view name = op->name();
  const size_t hash = TextHash{}(name);
  auto& first = bucket(hash);
  entries_.push_back(std::make_unique<Entry>(std::move(op), hash, name, first.load(std::memory_order_relaxed)));
  first.store(entries_.back().get(), std::memory_order_release);
  return *entries_.back()->op;
}

const OpDef* Registry::find(std::string_view name) const {
  const size_t hash = TextHash{}(name);
  for (const Entry* e = bucket(hash).load(std::memory_order_acquire); e; e = e->next)
    if (e->hash == hash && e->name == name) return e->op.get();
  return nullptr;
}

std::vector<const OpDef*> Registry::all() const {
  std::lock_guard lock(mutex_);
  std::vector<const OpDef*> ops;
  for (auto& e : entries_) ops.push_back(e->op.get());
  return ops;
}

const OpDef& Registry::get(std::string_view name) const {
  if (const OpDef* op = find(name)) return *op;
  std::vector<std::string_view> names;
  for (auto* op : all())
    if (!op->has(kHidden)) names.push_back(op->name());
  fail(Code::not_found, "unknown op '", name.substr(0, 80), "'", suggest(name, names));
}

}  // namespace thunder
