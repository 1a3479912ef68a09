// The root object: the op registry, memory, executors and the random state. There is no other global state.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "base/interrupts.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/thread_pool.h"
#include "device/block_cache.h"
#include "device/devices.h"
#include "executors/executor.h"
#include "jit/context/marks.h"
#include "jit/options/backends.h"
#include "jit/context/printing.h"
#include "modules/kind.h"
#include "passes/custom.h"
#include "tracer/scope.h"

namespace thunder {

namespace loops {
class Targets;
}

// The user's hooks; copied. Null members: the defaults.
struct ContextHooks {
  Allocator allocator = default_allocator();
  void (*log)(int32_t level, const char* component, const char* text, size_t bytes, void* user) = nullptr;
  Interrupts::Ask check_interrupts = nullptr;
  void* user = nullptr;
  void (*destroy)(void* user) = nullptr;  // once, when the last thing that the context made is gone
};

// How calls of a context's compiled functions behave.
enum class Stance : uint8_t { normal, force_eager, eager_on_recompile, fail_on_recompile, eager_then_compile };

class Context : public Counted<Context> {
 public:
  explicit Context(const ContextHooks& hooks);
  ~Context();

  Registry& registry() { return registry_; }
  const Allocator& allocator() const { return hooks_.allocator; }
  Devices& devices() { return devices_; }
  ThreadPool& threads() { return threads_; }
  // The machine for which executors plan.
  const Machine& machine() const { return machine_; }
  // What runs fused kernels, by kind of device.
  const loops::Targets& targets() const { return *targets_; }
  // Both require that nothing is being compiled or run. 0: as many threads as a new context has.
  void use_threads(size_t threads);
  void use_threads(const ThreadPool::Host& host);
  // The cache of the library's own allocator; null if the host provided one, which is then asked for every block.
  BlockCache* block_cache() const { return block_cache_.get(); }
  const Ref<Tensor>& random() const { return random_; }
  ScopeEnvironment scope_environment();
  // Before any scope is made.
  void set_composites(std::unique_ptr<CompositeRunner> composites) { composites_ = std::move(composites); }
  ModuleKinds& module_kinds() { return module_kinds_; }
  ModuleEnvironment module_environment() { return {scope_environment(), &module_kinds_}; }
  // Sets the log levels, in the syntax of LogLevels::set(). Levels set by the environment's THUNDER_LOGS stay.
  void set_logs(std::string_view text);
  bool logs(LogName name, LogLevel level) const { return log_levels_.wants(name, level); }
  // To the host's log. Those that THUNDER_LOGS asked for go to standard error, warnings only where the host has no log.
  void log(LogLevel level, LogName name, std::string_view text) const;
  // Each line of a text with the time of the day, the function and the user's line ("": unknown) in front.
  void log(LogLevel level, LogName name, std::string_view function, std::string_view where,
           std::string_view text) const;

  // Selectable by name in `executors`; a later one of the same name is refused.
  void add_executor(Ref<Executor> executor);
  // By names in priority order, `first` before them; host always ends the list. No names: the built-in ones. Throws
  // naming an unknown executor, or why a built-in one is not here.
  Executors executors(std::span<const std::string> names, const Executors& first) const;
  std::vector<std::string> executor_names() const;
  // Sets the executors of compiles that name none; no names: the built-in ones. Throws as executors() does.
  void set_default_executors(std::span<const std::string> names);
  std::vector<std::string> default_executor_names() const;
  // Null for an unknown name.
  Ref<Executor> find_executor(std::string_view name) const;
  // Built-in executors that cannot run here, and why.
  const std::vector<std::pair<std::string, std::string>>& missing_executors() const { return missing_; }

  BackendRegistry& backends() { return backends_; }
  const BackendRegistry& backends() const { return backends_; }

  // Adds a pass to every compile from now on. Throws for a taken name, or a position that does not exist.
  void add_pass(Ref<CustomPass> pass);
  // Those added, then `more`.
  CustomPasses passes_with(const CustomPasses& more) const;

  Stance stance() const { return stance_.load(std::memory_order_relaxed); }
  // Sets the stance by PyTorch's name. Throws for any other name.
  void set_stance(std::string_view name);
  std::string_view stance_name() const;

  // How tensors are printed where nothing else is said. What is given changes that; scientific notation is open again
  // where it does not say. Throws as print_options does.
  TensorPrintOptions printing() const;
  void set_printing(const Options& given);

  SizeMarks& size_marks() { return size_marks_; }

  // Checked between the steps of compiling and running.
  Interrupts& interrupts() { return interrupts_; }

  // Programs that write tensors take turns. A call inside of such a call, by the host that is asked for interrupts or
  // by an executor of its own, would wait for itself: it throws.
  class WriteTurn {
   public:
    explicit WriteTurn(Context& of);
    ~WriteTurn();
    WriteTurn(const WriteTurn&) = delete;

   private:
    Context& of_;
  };

 private:
  void add_products_executor();
  void read_logs();  // of the environment
  Ref<Executor> find_executor_locked(std::string_view name) const;

  ContextHooks hooks_;
  Machine machine_;
  std::unique_ptr<const loops::Targets> targets_;
  struct Close {
    void operator()(BlockCache* cache) const { cache->close(); }
  };
  std::unique_ptr<BlockCache, Close> block_cache_;
  Devices devices_;
  Registry registry_;
  ModuleKinds module_kinds_;
  std::unique_ptr<OpRunner> runner_;
  std::unique_ptr<CompositeRunner> composites_;
  Ref<Tensor> random_;
  mutable std::mutex executors_mutex_;  // of executors and passes
  Executors executors_, built_in_executors_, default_executors_;
  CustomPasses passes_;
  BackendRegistry backends_;
  std::vector<std::pair<std::string, std::string>> missing_;  // built-in ones that cannot run here, and why
  std::mutex write_mutex_;
  std::atomic<std::thread::id> writer_{};  // the thread that holds it
  SizeMarks size_marks_;
  Interrupts interrupts_;
  std::atomic<Stance> stance_{Stance::normal};
  LogLevels log_levels_;
  bool logs_from_environment_ = false;
  mutable std::mutex printing_mutex_;
  TensorPrintOptions printing_;
  ThreadPool threads_;
};

}  // namespace thunder
