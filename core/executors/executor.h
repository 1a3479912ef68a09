// The one descriptor that built-in, plugin and Lua executors fill. It knows nodes and buffers, no tensor handles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "program/launch.h"

namespace thunder {

// A node with the types of its values: what executors decide on.
struct NodeView {
  const Node& node;
  const Store& store;
};

enum ExecutorFlag : uint32_t {
  kStrided = 1,       // takes strided inputs; others get dense row-major ones
  kCallerThread = 2,  // must run on the thread that called
};

struct ExecutorDesc {
  std::string name;
  std::vector<std::string> ops;  // by name; empty: `claim` is asked about every op
  uint32_t flags = 0;
  void* user = nullptr;
  // Pure. False: descend into the decomposition.
  bool (*claim)(const NodeView&, void* user) = nullptr;
  // Fusion executors: of these consecutive nodes, which form one region with the first. Null: none.
  bool (*claim_region)(std::span<const Node* const> nodes, const Store& store, uint8_t* taken, void* user) = nullptr;
  // Once a distinct call site. Owned status; Code::declined: the next executor is asked.
  Status* (*prepare)(const NodeView&, void** state, size_t* scratch_bytes, void* user) = nullptr;
  // Hot: no handles, no allocation, no exceptions.
  Status* (*run)(const Launch*, void* state) = nullptr;
  void (*drop)(void* state) = nullptr;
  void (*destroy)(void* user) = nullptr;  // once
};

class Executor : public Counted<Executor> {
 public:
  // Throws when the descriptor is incomplete; `destroy` then has run.
  explicit Executor(ExecutorDesc desc);
  const std::string& name() const { return desc_.name; }
  const ExecutorDesc& desc() const { return desc_; }
  bool claims(const NodeView&) const;

 private:
  friend class Counted<Executor>;
  ~Executor();
  ExecutorDesc desc_;
};

}  // namespace thunder
