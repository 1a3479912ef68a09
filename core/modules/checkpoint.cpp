#include "modules/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "modules/groups.h"
#include "modules/state.h"
#include "tensor/safetensors.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

// The errors, collected before anything is written.
class Problems {
 public:
  void add(std::string_view kind, std::string text) { lists_[std::string(kind)].push_back(std::move(text)); }
  void check(const std::string& path) const {
    if (lists_.empty()) return;
    fail(Code::invalid_argument, "cannot load '", path,
         "': ", join(lists_, "; ", [](auto& list) { return describe(list.first, list.second); }));
  }

 private:
  static std::string describe(const std::string& kind, const std::vector<std::string>& items) {
    constexpr size_t kShown = 8;
    std::span<const std::string> shown(items.data(), std::min(items.size(), kShown));
    return cat(kind, " ", join(shown, ", ", [](auto& item) { return item; }),
               items.size() > kShown ? cat(" and ", items.size() - kShown, " more") : "");
  }
  std::map<std::string, std::vector<std::string>> lists_;
};

// Counters of batches keep their values: older files, and those of other libraries, lack them.
bool may_be_missing(std::string_view path) {
  return path.substr(path.rfind('.') + 1) == "num_batches_tracked";
}

bool equal_bytes(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && (a.bytes() == 0 || !std::memcmp(a.data(), b.data(), a.bytes()));
}

}  // namespace

void save_module(Module& module, const std::string& path) {
  const std::vector<NamedTensor> state = state_of(module);
  for (const NamedTensor& t : state)
    require(!t.tensor->sharding(), "cannot save '", path, "': '", t.name, "' is a shard, ", name(t.tensor->type()),
            ", of which other ranks have the rest; in Python thunder.parallel.save writes whole tensors");
  save_safetensors(path, state, {});
}

void load_module(Module& module, const std::string& path, bool strict, const Allocator& allocator) {
  SafeTensors file = load_safetensors(path, allocator);
  std::unordered_map<std::string_view, const NamedTensor*> given;
  for (auto& item : file.tensors) given.emplace(item.name, &item);

  ModuleEnvironment environment;
  environment.scope.allocator = allocator;
  StateAdditions additions(environment, module);
  std::vector<Tensor*> absent;  // numbers that are 0 where a file has none
  for (const std::string& path : module.optional_numbers()) {
    const Module::NamedSlot* slot = module.find_tensor(path);
    if (slot && !given.contains(path)) absent.push_back(slot->tensor.get());
    if (!slot && given.contains(path)) additions.number(path, 0);
  }

  Problems problems;
  std::unordered_map<Tensor*, const NamedTensor*> chosen;
  std::vector<const NamedTensor*> missing;
  const std::vector<NamedTensor> state = state_of(module);
  for (auto& item : state) {
    auto it = given.find(item.name);
    if (it == given.end()) {
      missing.push_back(&item);
      continue;
    }
    const NamedTensor* from = it->second;
    given.erase(it);
    const TensorType &has = item.tensor->type(), &gets = from->tensor->type();
    if (!(has.shape == gets.shape) || has.dtype != gets.dtype)
      problems.add("mismatched",
                   cat("'", item.name, "' is ", name(gets), " in the file, ", name(has), " in the module"));
    if (item.tensor->read_only()) problems.add("read-only", cat("'", item.name, "'"));
    auto [other, first] = chosen.emplace(item.tensor.get(), from);
    if (!first && !equal_bytes(*other->second->tensor, *from->tensor))
      problems.add("differing",
                   cat("'", other->second->name, "' and '", from->name, "', which are one tensor in the module"));
  }
  for (const NamedTensor* item : missing)
    if (strict && !may_be_missing(item->name) && !chosen.contains(item->tensor.get()) &&
        std::find(absent.begin(), absent.end(), item->tensor.get()) == absent.end())
      problems.add("missing", cat("'", item->name, "'"));
  for (auto& item : file.tensors)
    if (strict && given.contains(item.name)) problems.add("unexpected", cat("'", item.name, "'"));
  problems.check(path);

  additions.keep();
  for (Tensor* number : absent) {
    fill_with_zeros(*number);
    number->bump();
  }
  for (auto& [tensor, from] : chosen) {
    copy_elements(*from->tensor, *tensor);
    tensor->bump();
  }
}

}  // namespace thunder
