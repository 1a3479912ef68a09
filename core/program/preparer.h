// What a program asks of the executors: nodes that are ready to run.
#pragma once

#include <span>
#include <string>

#include "ir/trace.h"
#include "program/launch.h"

namespace thunder {

namespace loops {
class Launcher;
}

// A node of the trace, ready to run.
struct Prepared {
  Status* (*run)(const Launch*, void* state) = nullptr;
  void* state = nullptr;
  void (*drop)(void* state) = nullptr;  // may be null
  size_t scratch_bytes = 0;
  void (*run_tile)(const Launch*, const void* state, const Tile&) = nullptr;  // null: it runs as a whole
  // Packs frozen inputs, which alone have data in the launch. May be null.
  Status* (*prepack)(const Launch*, void* state, size_t* kept_bytes) = nullptr;
};

// Makes nodes ready to run; implemented by the executors. Lives as long as its program.
struct Preparer {
  virtual ~Preparer() = default;
  // `inputs` and `outputs`: the layouts that the node will run with, without memory. `epilogue_input`: the input that
  // the step before it computes tile by tile; -1: none.
  virtual Prepared prepare(const Node& node, const Store& store, std::span<const Buffer> inputs,
                           std::span<const Buffer> outputs, int32_t epilogue_input) = 0;
  // Called once for each node with what prepare() made of it, when all nodes are prepared: waits for what was left to
  // other threads. Throws.
  virtual void finish(const Node&, void* /*state*/, Finished&) {}
  // With which other steps a node's step may be joined, after prepare() and before finish().
  virtual Joinable joinable(const Node&, const void* /*state*/) const { return {}; }
  // Joins the steps of these nodes, which are of one kind, and of which none needs a result of another: the first one's
  // run() computes all of them and gets the first of their launches, which lie in a row. Throws.
  virtual void join(std::span<const Node* const>, std::span<void* const> /*states*/) {}
  // Whether the node's executor takes strided inputs; if not, it gets dense copies.
  virtual bool takes_strided(const Node& node) const = 0;
  // Whether the node may fail when it runs, so that nothing may have been stored before it.
  virtual bool may_fail(const Node&) const { return false; }
  // Whether the node's step runs an epilogue on each tile of its first result; whether a node may be such an epilogue.
  virtual bool runs_epilogue(const Node&) const { return false; }
  virtual bool may_be_epilogue(const Node&) const { return false; }
  // Whether a result may have the memory of an input that it replaces element by element.
  virtual bool in_place(const Node& node) const = 0;
  // What the node's executor made of it, as text for a person; "" if it has no text.
  virtual std::string explain(const Node&, const void* /*state*/) const { return ""; }
  // The compiled kernel that runs a node; null: something else does.
  virtual const loops::Launcher* launcher(const Node&, const void* /*state*/) const { return nullptr; }
};

}  // namespace thunder
