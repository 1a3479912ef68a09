#include "jit/context/context.h"

#include <algorithm>
#include <array>

#include "base/blob_store.h"
#include "base/cpu_count.h"
#include "base/entropy.h"
#include "base/text.h"
#include "executors/collectives.h"
#include "executors/cpu/executors.h"
#include "executors/cuda/cublaslt/cublaslt.h"
#include "executors/cuda/cudnn/cudnn.h"
#include "executors/cuda/cusolver/cusolver.h"
#include "executors/cuda/cuda.h"
#include "executors/engines.h"
#include "executors/fusion/fusion.h"
#include "executors/host/host.h"
#include "executors/cuda/kernels/kernels.h"
#include "executors/cpu/products/products.h"
#include "executors/transfer/transfer.h"
#include "jit/eager/prims/runner.h"
#include "jit/options/executor_names.h"
#include "compile/run_stages.h"
#include "loops/cpu/target.h"
#include "loops/cuda/target.h"

namespace thunder {
namespace {

constexpr const char* kNoVectors = "the processor has no AVX2";

}  // namespace

void Context::add_products_executor() {
  std::string found;
  const auto made = products_executor(machine_, {&threads_, BlobStore::default_folder()}, found);
  log(LogLevel::info, LogName::perf_hints, found);
  if (made) executors_.push_back(make<Executor>(*made));
  else missing_.emplace_back(kProducts, kNoVectors);
  for (const ExecutorName& n : kProductNames) {
    if (!made) missing_.emplace_back(n.name, kNoVectors);
    else if (n.needs_library && found.rfind("oneDNN", 0) != 0) missing_.emplace_back(n.name, found);
    else if (n.needs_tiles && !machine_.tile_registers)
      missing_.emplace_back(n.name,
                            "the processor has no tile registers for bf16 (AMX), or the system cannot save them");
  }
}

// Requires: the mutex is held, or no other thread has the context yet. Null for an unknown name.
Ref<Executor> Context::find_executor_locked(std::string_view name) const {
  for (auto& e : executors_)
    if (e->name() == name) return e;
  for (auto& [missing, why] : missing_)
    if (missing == name) return nullptr;
  return find_product_name(name) ? find_executor_locked(kProducts) : nullptr;
}

Context::Context(const ContextHooks& hooks)
    : hooks_(hooks),
      machine_(read_machine()),
      devices_(hooks.allocator, machine_.threads),
      interrupts_(hooks.check_interrupts, hooks.user),
      threads_(machine_.threads) {
  read_logs();
  if (hooks_.allocator.ours) {
    block_cache_.reset(BlockCache::open(hooks_.allocator, BlockCache::kDefaultLimit));
    hooks_.allocator = block_cache_->allocator();
    devices_.set_host(hooks_.allocator);
  }
  TensorType state;
  state.dtype = DType::i64;
  state.shape = {2};
  random_ = Tensor::empty(hooks_.allocator, state);
  // Below 2^53, so that languages whose numbers are doubles can show the seed, and take it again.
  const int64_t seeded[2] = {static_cast<int64_t>(entropy() >> 11), 0};
  std::copy_n(seeded, 2, reinterpret_cast<int64_t*>(random_->data()));
  // Highest priority first; host, which takes everything, is the last.
  add_products_executor();
  if (auto convolution = convolution_executor(machine_)) executors_.push_back(make<Executor>(*convolution));
  else missing_.emplace_back("convolution", kNoVectors);
  if (auto pooling = pooling_executor(machine_)) executors_.push_back(make<Executor>(*pooling));
  else missing_.emplace_back("pooling", kNoVectors);
  if (auto attention = attention_executor(machine_)) executors_.push_back(make<Executor>(*attention));
  else missing_.emplace_back("attention", kNoVectors);
  auto targets = std::make_unique<loops::Targets>();
  targets->add(loops::cpu_target(machine_));
  targets->add(loops::cuda_target(devices_));
  targets_ = std::move(targets);
  executors_.push_back(make<Executor>(cublaslt_executor(devices_)));
  executors_.push_back(make<Executor>(cudnn_executor(devices_)));
  executors_.push_back(make<Executor>(cusolver_executor(devices_)));
  executors_.push_back(make<Executor>(fusion_executor(*targets_)));
  executors_.push_back(make<Executor>(cuda_executor(devices_)));
  executors_.push_back(make<Executor>(kernels_executor(devices_)));
  executors_.push_back(make<Executor>(collectives_executor(devices_)));
  executors_.push_back(make<Executor>(transfer_executor(devices_)));
  executors_.push_back(make<Executor>(through_host_executor(devices_)));
  executors_.push_back(make<Executor>(host_executor()));
  built_in_executors_ = default_executors_ = executors_;
  for (const EngineRow& engine : engines())  // by name alone, and before host, which takes everything
    executors_.insert(executors_.end() - 1, make<Executor>(engine.make(machine_)));
  runner_ = eager_runner(default_executors_, devices_, threads_);
}

Context::~Context() {
  random_ = nullptr;
  composites_.reset();
  runner_.reset();
  passes_.clear();
  default_executors_.clear(), built_in_executors_.clear();
  executors_.clear();
  if (hooks_.destroy) hooks_.destroy(hooks_.user);
}

ScopeEnvironment Context::scope_environment() {
  return {&registry_, hooks_.allocator, runner_.get(), composites_.get(), random_, this, &devices_};
}

void Context::use_threads(size_t threads) {
  require(threads <= kMaxThreads, "the number of threads must be at most ", kMaxThreads, ", got ", threads);
  threads_.resize(threads ? threads : thread_count());
  machine_.threads = threads_.threads();
}

void Context::use_threads(const ThreadPool::Host& host) {
  threads_.set_host(host);
  machine_.threads = threads_.threads();
}

Context::WriteTurn::WriteTurn(Context& of) : of_(of) {
  const std::thread::id self = std::this_thread::get_id();
  if (of.writer_.load(std::memory_order_relaxed) == self)
    fail(Code::failed_precondition,
         "a function that writes tensors in place was called while another one runs on this thread");
  of.write_mutex_.lock();
  of.writer_.store(self, std::memory_order_relaxed);
}

Context::WriteTurn::~WriteTurn() {
  of_.writer_.store({}, std::memory_order_relaxed);
  of_.write_mutex_.unlock();
}

void Context::add_executor(Ref<Executor> executor) {
  std::lock_guard lock(executors_mutex_);
  for (auto& e : executors_)
    require(e->name() != executor->name(), "executor '", executor->name(), "' is already registered");
  // Before host, which takes everything.
  executors_.insert(executors_.end() - 1, std::move(executor));
}

void Context::add_pass(Ref<CustomPass> pass) {
  std::lock_guard lock(executors_mutex_);
  CustomPasses all = passes_;
  all.push_back(std::move(pass));
  check_places(all);
  passes_ = std::move(all);
}

CustomPasses Context::passes_with(const CustomPasses& more) const {
  std::lock_guard lock(executors_mutex_);
  CustomPasses all = passes_;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::string> Context::executor_names() const {
  std::lock_guard lock(executors_mutex_);
  std::vector<std::string> names;
  for (auto& e : executors_)
    if (!find_engine(e->name())) names.push_back(e->name());  // an engine may not be here: it is opened when named
  return names;
}

void Context::set_default_executors(std::span<const std::string> names) {
  Executors wanted;
  if (!names.empty()) wanted = executors(names, {});
  std::lock_guard lock(executors_mutex_);
  default_executors_ = names.empty() ? built_in_executors_ : std::move(wanted);
}

std::vector<std::string> Context::default_executor_names() const {
  std::vector<std::string> names;
  for (auto& e : executors({}, {})) names.push_back(e->name());
  return names;
}

Ref<Executor> Context::find_executor(std::string_view name) const {
  std::lock_guard lock(executors_mutex_);
  return find_executor_locked(name);
}

Executors Context::executors(std::span<const std::string> names, const Executors& first) const {
  std::lock_guard lock(executors_mutex_);
  Executors out = first;
  // An executor that options ask for replaces the default one of its name.
  auto add = [&](const Ref<Executor>& e) {
    if (std::none_of(out.begin(), out.end(), [&](auto& o) { return o->name() == e->name(); })) out.push_back(e);
  };
  if (names.empty())
    for (auto& e : default_executors_) add(e);
  for (auto& name : names) {
    const Ref<Executor> found = find_executor_locked(name);
    if (!found) {
      for (auto& [missing, why] : missing_)
        if (missing == name) fail(Code::not_found, "executors: ", name, " is not available here: ", why);
      std::vector<std::string_view> known;
      for (auto& e : executors_) known.push_back(e->name());
      fail(Code::not_found, "executors: unknown executor '", name, "'", suggest(name, known));
    }
    add(found);
  }
  add(executors_.back());
  return out;
}

namespace {
constexpr std::array<std::string_view, 5> kStances = {"default", "force_eager", "eager_on_recompile",
                                                      "fail_on_recompile", "eager_then_compile"};
}  // namespace

void Context::set_stance(std::string_view name) {
  const auto found = std::find(kStances.begin(), kStances.end(), name);
  require(found != kStances.end(), "there is no stance '", name, "'", suggest(name, kStances));
  stance_.store(static_cast<Stance>(found - kStances.begin()), std::memory_order_relaxed);
}

std::string_view Context::stance_name() const { return kStances[static_cast<size_t>(stance())]; }

TensorPrintOptions Context::printing() const {
  const std::lock_guard lock(printing_mutex_);
  return printing_;
}

void Context::set_printing(const Options& given) {
  const std::lock_guard lock(printing_mutex_);
  TensorPrintOptions now = printing_;
  now.sci_mode.reset();
  printing_ = print_options(given, now, "set_printoptions");
}

}  // namespace thunder
