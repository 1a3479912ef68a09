#include "jit/options/backends.h"

#include "base/text.h"
#include "compile/stages.h"

namespace thunder {
namespace {

std::vector<std::string> optional_passes() {
  std::vector<std::string> names;
  for (const StageRow& row : stages())
    if (!row.required) names.emplace_back(row.name);
  return names;
}

}  // namespace

BackendRegistry::BackendRegistry() {
  add({.name = "thunder", .doc = "All passes, and the built-in executors. What happens without a backend."});
  add({.name = "cudagraphs",
       .doc = "The same; steps on a CUDA device are recorded and launched as one graph.",
       .use_cudagraphs = true});
  add({.name = "eager",
       .doc = "The function's ops one by one as they were written: no optional pass, no fusion.",
       .disabled_passes = optional_passes(),
       .fuses = false,
       .tags = {"debug"}});
  add({.name = "aot_eager",
       .doc = "All passes, and no fusion: what differs from eager is a pass's doing, what thunder adds is fusion's.",
       .fuses = false,
       .tags = {"debug"}});
  add({.name = "onnxrt",
       .doc = "The same as thunder, but what ONNX Runtime has ops for is run by it, on the CPU.",
       .executors = {"onnxrt"}});
  add({.name = "openxla",
       .doc = "The same as thunder, but what StableHLO has ops for is compiled by XLA, on the CPU.",
       .executors = {"openxla"}});
  add({.name = "openxla_eval",
       .doc = "The same as openxla; a function that takes gradients is refused.",
       .executors = {"openxla"},
       .tags = {"inference"}});
  add({.name = "tvm",
       .doc = "The same as thunder, but what TVM takes of ONNX is compiled by it, untuned, on the CPU.",
       .executors = {"tvm"}});
  add({.name = "host",
       .doc = "All passes, and each line run by its reference kernel on the CPU.",
       .executors = {"host"},
       .fuses = false,
       .tags = {"debug"}});
}

void BackendRegistry::add(Backend backend) {
  require(!backend.name.empty(), "a backend needs a name");
  std::lock_guard lock(mutex_);
  for (auto& b : all_) require(b->name != backend.name, "backend '", backend.name, "' is already registered");
  all_.push_back(std::make_shared<const Backend>(std::move(backend)));
}

std::shared_ptr<const Backend> BackendRegistry::get(std::string_view name) const {
  std::lock_guard lock(mutex_);
  std::vector<std::string_view> known;
  for (auto& b : all_) {
    if (b->name == name) return b;
    known.push_back(b->name);
  }
  fail(Code::not_found, "compile: unknown backend '", name, "'", suggest(name, known));
}

std::vector<std::shared_ptr<const Backend>> BackendRegistry::all() const {
  std::lock_guard lock(mutex_);
  return all_;
}

}  // namespace thunder
