// The options that a caller gives a compile: names and values of the table, and objects.
#pragma once

#include "executors/executor.h"
#include "jit/options/backends.h"
#include "passes/custom.h"
#include "tracer/compile_settings.h"

namespace thunder {

// thunder_options: names and values, executors for this one compile, which come first, and passes.
class CompileOptions : public Options {
 public:
  void add_executor(Ref<Executor> e) { executors_.push_back(std::move(e)); }
  const Executors& executors() const { return executors_; }
  void add_pass(Ref<CustomPass> p) { passes_.push_back(std::move(p)); }
  const CustomPasses& passes() const { return passes_; }

  // progress and guard_filter_fn. Throws at another name.
  void set_function(std::string_view name, Ref<Function> f) { read_settings(name, std::move(f), settings_); }

  // The settings resolved from the options. Throws at an option that is unknown, of another kind, or impossible.
  void update_settings() { read_settings(*this, settings_); }
  const CompileSettings& settings() const { return settings_; }

  // The backend of the option `backend`; null: there is none.
  const Backend* backend() const { return backend_.get(); }
  void use_backend(std::shared_ptr<const Backend> backend) { backend_ = std::move(backend); }

 private:
  Executors executors_;
  std::shared_ptr<const Backend> backend_;
  CustomPasses passes_;
  CompileSettings settings_;
};

// The sizes that are symbols: none, the marked ones, those that were also seen to vary, or all of 2 and more.
enum class DynamicSizes : uint8_t { no, marked, automatic, all };

// Throws where they say two things about sizes.
DynamicSizes dynamic_sizes(const CompileSettings& settings);

}  // namespace thunder
