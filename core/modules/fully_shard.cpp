#include "modules/fully_shard.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "ir/prim.h"
#include "ops/world_collectives.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

// Whether its children are numbered, as those of a ModuleList, a Sequential or Lua's lists are.
bool is_list(const Module& m) {
  const auto numbered = [](const Module::Child& c) { return c.name.find_first_not_of("0123456789") == c.name.npos; };
  return std::all_of(m.children().begin(), m.children().end(), numbered);
}

// The units of parameters below a module, each in the first that has it.
class Units {
 public:
  explicit Units(RankAxesSlot& slot) : slot_(slot) {}
  void visit(const Module& m, int64_t unit, bool in_list) {
    for (const Module::NamedSlot& t : m.tensors()) of_.try_emplace(t.tensor.get(), unit);
    const bool begins = is_list(m) && !in_list;
    for (const Module::Child& child : m.children())
      visit(*child.module, begins ? slot_.add_unit() : unit, in_list || begins);
  }
  int64_t of(const Tensor& t) const { return of_.at(&t); }

 private:
  RankAxesSlot& slot_;
  std::unordered_map<const Tensor*, int64_t> of_;
};

}  // namespace

Ref<Tensor> shard_of(const ScopeEnvironment& environment, const Tensor& whole, const Sharding& how) {
  TensorType type = whole.type();
  const Device device = std::exchange(type.device, Device::cpu);
  const Ref<Tensor> host = Tensor::empty(environment.allocator, type);
  copy_elements(whole, *host);
  const auto dim = static_cast<size_t>(how.dim);
  type.shape[dim] = Dim(how.part());
  Ref<Tensor> part = Tensor::empty(environment.allocator, type);
  size_t above = static_cast<size_t>(how.blocks);  // blocks of rows
  for (size_t i = 0; i < dim; i++) above *= static_cast<size_t>(whole.sizes()[i]);
  const size_t block = above ? host->bytes() / above : 0, own_block = above ? part->bytes() / above : 0;
  const size_t row = how.rows ? block / static_cast<size_t>(how.rows / how.blocks) : 0;
  const size_t first = std::min(block, static_cast<size_t>(how.index * how.part() / how.blocks) * row);
  const size_t own = std::min(own_block, block - first);
  if (part->bytes()) std::memset(part->data(), 0, part->bytes());
  for (size_t i = 0; i < above && own; i++)
    std::memcpy(part->data() + i * own_block, host->data() + i * block + first, own);
  return device == Device::cpu ? part : moved(part, *environment.devices, device);
}

void replace_by_shards(const ScopeEnvironment& environment, Module& module, const ShardingOf& how) {
  module.replace_parameters([&](const Ref<Tensor>& t) {
    const std::shared_ptr<const Sharding> own = how(*t);
    if (!own) return t;
    Ref<Tensor> part = shard_of(environment, *t, *own);
    part->set_sharding(own);
    return part;
  });
}

void fully_shard(const ScopeEnvironment& environment, Module& module, std::string_view axis,
                 bool reshard_after_forward) {
  RankAxesSlot& slot = rank_axes(*environment.registry);
  const auto axes = slot.get();
  require(axes != nullptr, "fully_shard: this context has no mesh");
  const int64_t ranks = axes->size(axis), index = axes->index(axis);
  slot.note_shards();
  Units units(slot);
  units.visit(module, slot.add_unit(), false);
  replace_by_shards(environment, module, [&](const Tensor& t) -> std::shared_ptr<const Sharding> {
    if (t.type().rank() == 0 || t.sharding()) return nullptr;
    return std::make_shared<const Sharding>(
        Sharding{std::string(axis), ranks, index, t.sizes()[0], reshard_after_forward, units.of(t)});
  });
}

Tensor* value_of_shard(Scope& scope, Tensor* shard, std::string_view path) {
  const Sharding& how = *shard->sharding();
  Tensor* const part = scope.parameter(shard, path);
  Tensor* value = nullptr;
  scope.run_formulas([&] {
    Builder& b = scope.builder();
    Var x = b.var(scope.enter(part));
    const std::string_view along = how.axis;
    x = how.gathered ? b.call(Prim::all_gather, {x, along, how.ranks, how.reshard, how.unit})
                     : b.call(Prim::shard, {x, along, how.ranks});
    if (how.gathered && how.part() * how.ranks != how.rows) x = b.call("slice", {x, 0, 0, how.rows});
    value = scope.wrap(x.id);
  });
  return value ? value : scope.failed_tensor();
}

}  // namespace thunder
