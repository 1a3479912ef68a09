// Backends by name: the executors that are asked first, and the passes that are left out.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executors/executor.h"

namespace thunder {

struct Backend {
  std::string name, doc;
  // Asked before those of the option `executors`, or the built-in ones: objects, then names.
  Executors own;
  std::vector<std::string> executors;
  std::vector<std::string> disabled_passes;  // beside those of the option `disable_passes`
  bool fuses = true;                           // false: executors that claim regions are left out, but for its own
  bool use_cudagraphs = false;
  std::vector<std::string> tags;  // as in PyTorch: "debug", "experimental"
};

// The backends of a context: the library's, then those that were added.
class BackendRegistry {
 public:
  BackendRegistry();
  // Throws if the name is taken or empty.
  void add(Backend backend);
  // Throws for an unknown name, and suggests the nearest one.
  std::shared_ptr<const Backend> get(std::string_view name) const;
  std::vector<std::shared_ptr<const Backend>> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Backend>> all_;
};

}  // namespace thunder
