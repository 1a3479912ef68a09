// What compile can be told: the options as a table, and those that say how calls find programs.
#pragma once

#include "executors/executor.h"
#include "jit/options/backends.h"
#include "passes/custom.h"
#include "tracer/function.h"
#include "tracer/options.h"

namespace thunder {

class Context;

// thunder_options: names and values, executors for this one compile, which come first, and passes.
class CompileOptions : public Options {
 public:
  void add_executor(Ref<Executor> e) { executors_.push_back(std::move(e)); }
  const Executors& executors() const { return executors_; }
  void add_pass(Ref<CustomPass> p) { passes_.push_back(std::move(p)); }
  const CustomPasses& passes() const { return passes_; }

  // progress and guard_filter_fn. Throws at another name.
  void set_function(std::string_view name, Ref<Function> f);
  Function* progress() const { return progress_.get(); }
  Function* guard_filter() const { return guard_filter_.get(); }

  // That of the option `backend`; null: there is none.
  const Backend* backend() const { return backend_.get(); }
  void use_backend(std::shared_ptr<const Backend> backend) { backend_ = std::move(backend); }

 private:
  Executors executors_;
  std::shared_ptr<const Backend> backend_;
  CustomPasses passes_;
  Ref<Function> progress_, guard_filter_;
};
std::span<const OptionRow> compile_options();

enum class CacheMode : uint8_t { constant_values, symbolic_values, same_input, no_caching };

// Which sizes stand for any: none, those that are marked, those too that were seen to vary, or all of 2 and more.
enum class DynamicSizes : uint8_t { no, marked, automatic, all };

struct CallSettings {
  DynamicSizes dynamic = DynamicSizes::no;
  CacheMode cache = CacheMode::constant_values;
  int64_t recompile_limit = 0, accumulated_limit = 0;
  bool fail_on_limit = false;
  bool disable = false;
  bool fullgraph = true;
};

// Of resolved options. Throws at the first that is unknown, of another kind, or says what cannot be.
CallSettings call_settings(const CompileOptions& options, const Context& context);

}  // namespace thunder
