// The program: a Trace is a list of nodes over values. Nodes and types live in a Store that all the stages of one
// compile share and only append to, so that keeping every stage costs a list of pointers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/arena.h"
#include "ir/arg.h"
#include "ir/schema.h"
#include "ir/type.h"

namespace thunder {

enum class Prim : uint8_t;  // ir/prim.h

// An operation, as far as traces need it. The registry derives from it; the parser finds one by name.
struct Op {
  Schema schema;
  bool prim = false;     // has no decomposition; its name starts with "prims."
  Prim id{255};          // which one of the library's own, or Prim::none
  bool pure = true;      // may be merged with an equal one, and dropped when unused
  std::string_view name() const { return schema.name; }
  explicit Op(Schema s) : schema(std::move(s)) {}
};

// A line of a trace. Immutable once made; args are in the schema's order and complete (defaults filled in).
struct Node {
  const Op* op = nullptr;
  std::span<const Arg> args;
  std::span<const ValueId> results;
  std::span<const Node* const> body;  // a composite's decomposition: it defines exactly the node's results, and more
  const char* where = nullptr;        // the user's "file:line", or null
  const char* executor = nullptr;     // who claimed it, in a claimed trace
};

class Substitution;

class Store {
 public:
  ValueId add(const TensorType& type);
  const TensorType& type(ValueId v) const { return *types_[v]; }
  size_t size() const { return types_.size(); }

  // Copies the arguments and all they point to into the arena.
  const Node* node(const Op* op, std::span<const Arg> args, std::span<const ValueId> results,
                   std::span<const Node* const> body, const char* where, const char* executor = nullptr);
  // The node with every value v of its arguments, and of its body's, replaced by to[v] where that is not kNoValue.
  // It keeps its results, so it takes the old one's place in a new trace; itself when nothing changes.
  const Node* substitute(const Node* node, std::span<const ValueId> to);
  const Node* claimed(const Node* node, const char* executor);
  const char* text(std::string_view s) { return arena_.copy(s); }
  // What its nodes and types take.
  size_t bytes() const { return arena_.bytes() + types_.size() * sizeof(TensorType*); }
  Dims& dims() { return dims_; }
  // Removes all nodes; allocates nothing. Requires: no trace shares it.
  void clear();
  // A store that begins with the first values of another one, and keeps it alive, so that traces of the new store may
  // have nodes of the old one. The types must be without symbols, which end with a store.
  static std::shared_ptr<Store> make_continuation(std::shared_ptr<const Store> from, size_t values);
  // A store with the values of another one, in whose types `sizes` replaces the symbols. It keeps the other one alive,
  // so that traces of the new store may have nodes of the old one that have no symbols.
  static std::shared_ptr<Store> make_specialised(std::shared_ptr<const Store> from, Substitution& sizes);

 private:
  Arg keep(const Arg& a);

  Arena arena_;
  Dims dims_;
  struct TypeHash {
    size_t operator()(const TensorType& t) const { return hash(t); }
  };
  // Types are interned: a long program has few different ones.
  std::unordered_set<TensorType, TypeHash> kept_types_;
  std::vector<const TensorType*> types_;
  std::shared_ptr<const Store> from_;  // whose nodes are in use, too
};

// Where an input of a program comes from; also how it prints.
enum class Source : uint8_t {
  argument,   // i[k]: a tensor or live number among the call's values
  parameter,  // p[k]: read through a module
  constant,   // c[k]: any other concrete tensor met while tracing
};

struct Input {
  ValueId value;
  Source source;
  uint32_t index;      // k - 1 in i[k], p[k], c[k]
  std::string name;    // "x", "fc1.weight", or ""
  bool frozen = false; // what depends on such inputs alone is computed once
};

// After the body has run, `value` is stored into the tensor bound to inputs[input].
struct Write {
  uint32_t input;
  ValueId value;
};

struct Trace {
  std::shared_ptr<Store> store;
  std::string function;     // the traced function's name
  std::string pass;         // what made this stage
  double milliseconds = 0;  // how long it took
  std::vector<Input> inputs;
  std::vector<const Node*> nodes;
  std::vector<ValueId> outputs;
  std::vector<Write> writes;

  const TensorType& type(ValueId v) const { return store->type(v); }
};

// The nodes of a region's body, or the one node itself, which must outlive what is returned.
inline std::vector<const Node*> nodes_of(const Node& n) {
  return n.body.empty() ? std::vector<const Node*>{&n} : std::vector<const Node*>(n.body.begin(), n.body.end());
}

// Calls f(id) for every value among the arguments, lists included, in order.
template <class F>
void for_each_value(std::span<const Arg> args, F&& f) {
  for (const Arg& a : args) {
    if (a.kind == ArgKind::value) f(a.v);
    if (a.kind == ArgKind::values)
      for (ValueId v : a.value_list()) f(v);
  }
}

}  // namespace thunder
