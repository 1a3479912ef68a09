// All operations of a context, by name. Filled at run time: built-in rows first, then custom ones.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "ops/op.h"

namespace thunder {

class Registry {
 public:
  Registry();  // with every built-in op

  // Throws when the name is taken or the schema is malformed. Requires: no trace or call is running.
  const OpDef& add(const OpRow& row);
  const OpDef* find(std::string_view name) const;
  // Throws not_found with the nearest name.
  const OpDef& get(std::string_view name) const;
  const std::vector<std::unique_ptr<OpDef>>& all() const { return ops_; }

 private:
  std::vector<std::unique_ptr<OpDef>> ops_;
  std::unordered_map<std::string, const OpDef*, TextHash, std::equal_to<>> by_name_;
};

}  // namespace thunder
