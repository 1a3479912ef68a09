#include "ops/registry.h"

#include "base/text.h"

namespace thunder {

#define THUNDER_OPS_FILE(stem) void register_##stem(Registry&);
#include "ops/ops.inc"
#undef THUNDER_OPS_FILE

OpDef::OpDef(const OpRow& row)
    : Op(parse_schema(row.schema.text)),
      doc(row.doc),
      nondiff(row.nondiff),
      meta(row.meta),
      reference(row.reference),
      decompose(row.decompose),
      vjp(row.vjp),
      view(row.view),
      write_through(row.write_through),
      samples(row.samples),
      tags(row.tags) {
  prim = row.decompose == nullptr;
}

Registry::Registry() {
#define THUNDER_OPS_FILE(stem) register_##stem(*this);
#include "ops/ops.inc"
#undef THUNDER_OPS_FILE
}

const OpDef& Registry::add(const OpRow& row) {
  auto op = std::make_unique<OpDef>(row);
  require(!find(op->name()), "op '", op->name(), "' is already registered");
  ops_.push_back(std::move(op));
  const OpDef& added = *ops_.back();
  by_name_.emplace(added.schema.name, &added);
  return added;
}

const OpDef* Registry::find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

const OpDef& Registry::get(std::string_view name) const {
  if (const OpDef* op = find(name)) return *op;
  std::vector<std::string_view> names;
  for (auto& op : ops_)
    if (!op->has(kHidden)) names.push_back(op->name());
  fail(Code::not_found, "unknown op '", name.substr(0, 80), "'", suggest(name, names));
}

}  // namespace thunder
