#include "modules/tensor_parallel.h"

#include <charconv>
#include <unordered_map>

#include "base/text.h"
#include "modules/fully_shard.h"
#include "modules/kind.h"
#include "ops/world_collectives.h"

namespace thunder {
namespace {

// A line of a plan.
struct Rule {
  std::string_view path, style;
  int64_t blocks = 1;  // matrices one below the other, of each of which a rank has a part
};

Rule parse_rule(std::string_view text) {
  const size_t equals = text.find('=');
  require(equals != text.npos,
          "parallelize_module: a line of the plan is a path and a style, \"blocks.*.fc1=colwise\", got '", text, "'");
  Rule rule{text.substr(0, equals), text.substr(equals + 1)};
  if (const size_t colon = rule.style.find(':'); colon != text.npos) {
    const std::string_view number = rule.style.substr(colon + 1);
    const auto read = std::from_chars(number.data(), number.data() + number.size(), rule.blocks);
    require(read.ec == std::errc() && read.ptr == number.data() + number.size() && rule.blocks > 0,
            "parallelize_module: ", text, ": behind ':' is how many matrices the weight has one below the other, got '",
            number, "'");
    rule.style = rule.style.substr(0, colon);
  }
  return rule;
}

// Whether names of a path are those of a pattern, in which '*' is any name.
bool matches(std::string_view pattern, std::string_view path) {
  while (true) {
    const std::string_view one = pattern.substr(0, pattern.find('.')), name = path.substr(0, path.find('.'));
    if (one != "*" && one != name) return false;
    if (one.size() == pattern.size() || name.size() == path.size())
      return one.size() == pattern.size() && name.size() == path.size();
    pattern.remove_prefix(one.size() + 1), path.remove_prefix(name.size() + 1);
  }
}

// Which dim of which parameters a style divides.
struct Style {
  std::string_view name, kind;
  int64_t weight;  // the dim
  bool bias;       // divided too
};
constexpr Style kStyles[] = {
    {"colwise", "Linear", 0, true}, {"rowwise", "Linear", 1, false}, {"vocab", "Linear", 0, true},
    {"vocab", "Embedding", 0, false}};

const Style& find_style(const Rule& rule, const Module& layer, std::string_view path) {
  for (const Style& s : kStyles)
    if (s.name == rule.style && s.kind == layer.kind().name()) return s;
  fail(Code::invalid_argument, "parallelize_module: '", path, "', a ", layer.kind().name(), ", cannot be '", rule.style,
       "': a Linear can be 'colwise' (of several matrices 'colwise:3'), 'rowwise' or 'vocab', an Embedding 'vocab'");
}

class Plan {
 public:
  Plan(Module& root, std::string_view axis, int64_t ranks, int64_t index)
      : root_(root), axis_(axis), ranks_(ranks), index_(index) {}

  void add(const Rule& rule) {
    bool any = false;
    for (auto& at : module_paths_of(root_)) {
      if (!matches(rule.path, at.path)) continue;
      any = true;
      const Style& style = find_style(rule, *at.module, at.path);
      divide(*at.module, at.path, "weight", style.weight, rule);
      if (style.bias) divide(*at.module, at.path, "bias", 0, rule);
    }
    require(any, "parallelize_module: the plan's '", rule.path, "' names no layer of the module, a ",
            root_.kind().name());
  }
  std::shared_ptr<const Sharding> of(const Tensor& t) const {
    const auto it = of_.find(&t);
    return it == of_.end() ? nullptr : it->second;
  }

 private:
  void divide(Module& layer, std::string_view path, std::string_view name, int64_t dim, const Rule& rule) {
    const Module::NamedSlot* const slot = layer.find_tensor(name);
    if (!slot) return;  // a layer without a bias
    const Tensor& t = *slot->tensor;
    require(!t.sharding(), "parallelize_module: '", join_path(path, name), "' is a shard already");
    const int64_t size = t.sizes()[static_cast<size_t>(dim)];
    require(size % (ranks_ * rule.blocks) == 0, "parallelize_module: dim ", dim, " of '", join_path(path, name), "', ",
            thunder::name(t.type()), ", cannot be divided among the ", ranks_, " ranks of axis '", axis_, "'",
            rule.blocks > 1 ? cat(" in ", rule.blocks, " blocks") : "");
    Sharding how{std::string(axis_), ranks_, index_, size};
    how.dim = dim, how.blocks = rule.blocks, how.gathered = false;
    const auto [it, fresh] = of_.try_emplace(&t, std::make_shared<const Sharding>(how));
    require(fresh || (it->second->dim == dim && it->second->blocks == rule.blocks), "parallelize_module: '",
            join_path(path, name), "' is shared with a layer that divides it in another way");
  }

  Module& root_;
  const std::string_view axis_;
  const int64_t ranks_, index_;
  std::unordered_map<const Tensor*, std::shared_ptr<const Sharding>> of_;
};

}  // namespace

void parallelize_module(const ScopeEnvironment& environment, Module& module, std::string_view axis,
                        std::string_view plan) {
  RankAxesSlot& slot = rank_axes(*environment.registry);
  const auto axes = slot.get();
  require(axes != nullptr, "parallelize_module: this context has no mesh");
  Plan made(module, axis, axes->size(axis), axes->index(axis));
  for (size_t at = 0; at <= plan.size();) {
    const size_t end = std::min(plan.find(',', at), plan.size());
    made.add(parse_rule(plan.substr(at, end - at)));
    at = end + 1;
  }
  slot.note_shards();
  replace_by_shards(environment, module, [&](const Tensor& t) { return made.of(t); });
}

const Sharding* tensor_parallel(const Module& module, std::string_view parameter) {
  for (const Module::NamedSlot& slot : module.tensors())
    if (slot.name == parameter) {
      const Sharding* const how = slot.tensor->sharding().get();
      return how && !how->gathered ? how : nullptr;
    }
  return nullptr;
}

}  // namespace thunder
