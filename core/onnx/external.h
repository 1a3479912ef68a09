// Files beside a model that hold its large tensors.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/mapping.h"

namespace thunder::onnx {

// A model may come from anybody, so what it names must be relative, without "..", and a regular file whose real path
// lies in the folder of the model, as given or as its real path is: in caches of models both are links.
class ExternalFiles {
 public:
  // `path`: of the model; empty: it came from memory, and has no such files.
  explicit ExternalFiles(std::string path) : path_(std::move(path)) {}

  // Throws for a name that is not allowed, or a file that cannot be opened. Each file is mapped once.
  const Ref<Mapping>& open(std::string_view location);

 private:
  std::string resolve_checked(std::string_view location) const;

  const std::string path_;
  std::map<std::string, Ref<Mapping>, std::less<>> open_;
};

}  // namespace thunder::onnx
