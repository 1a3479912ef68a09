#include "jit/context.h"

#include <algorithm>

#include "base/cpu_count.h"
#include "base/text.h"
#include "executors/host/host.h"

namespace thunder {
namespace {

// Eager ops run their reference kernel.
class HostRunner : public OpRunner {
 public:
  Status* run(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in, std::span<const Buffer> out) override {
    return op.reference({in, out, args});
  }
};

}  // namespace

Context::Context(const ContextHooks& hooks) : hooks_(hooks), runner_(std::make_unique<HostRunner>()), threads_(thread_count()) {
  if (hooks_.allocator.ours) {
    block_cache_.reset(BlockCache::open(hooks_.allocator, BlockCache::kDefaultLimit));
    hooks_.allocator = block_cache_->allocator();
  }
  TensorType state;
  state.dtype = DType::i64;
  state.shape = {2};
  random_ = Tensor::empty(hooks_.allocator, state);
  std::fill_n(reinterpret_cast<int64_t*>(random_->data()), 2, 0);
  executors_.push_back(make<Executor>(host_executor()));
}

Context::~Context() {
  random_ = nullptr;
  executors_.clear();
  if (hooks_.destroy) hooks_.destroy(hooks_.user);
}

ScopeEnvironment Context::scope_environment() { return {&registry_, hooks_.allocator, runner_.get(), random_, this}; }

void Context::log(int32_t level, const char* component, std::string_view text) const {
  if (hooks_.log) hooks_.log(level, component, text.data(), text.size(), hooks_.user);
}

void Context::add_executor(Ref<Executor> executor) {
  std::lock_guard lock(executors_mutex_);
  for (auto& e : executors_) require(e->name() != executor->name(), "executor '", executor->name(), "' is already registered");
  // Before host, which takes everything.
  executors_.insert(executors_.end() - 1, std::move(executor));
}

std::vector<std::string> Context::executor_names() const {
  std::lock_guard lock(executors_mutex_);
  std::vector<std::string> names;
  for (auto& e : executors_) names.push_back(e->name());
  return names;
}

Executors Context::executors(std::span<const std::string> names, const Executors& first) const {
  std::lock_guard lock(executors_mutex_);
  Executors out = first;
  auto add = [&](const Ref<Executor>& e) {
    if (std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
  };
  for (auto& name : names) {
    auto it = std::find_if(executors_.begin(), executors_.end(), [&](auto& e) { return e->name() == name; });
    if (it == executors_.end()) {
      std::vector<std::string_view> known;
      for (auto& e : executors_) known.push_back(e->name());
      fail(Code::not_found, "executors: unknown executor '", name, "'", suggest(name, known));
    }
    add(*it);
  }
  add(executors_.back());
  return out;
}

}  // namespace thunder
