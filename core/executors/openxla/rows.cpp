#include "executors/openxla/rows.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace thunder::openxla {

#define THUNDER_NO_ENGINE(name, why) const Row name##_row = {.why_not = why};
#include "ir/prim.h"
#include "onnx/export/no_engine.def"
#undef THUNDER_NO_ENGINE

namespace {

constexpr const Row* kRows[] = {
#define THUNDER_PRIM(name) &name##_row,
#include "ir/prims.inc"
#undef THUNDER_PRIM
};

// Maps the trace's values to those of the module that is written.
class Writer {
 public:
  explicit Writer(const Store& store) : store_(store) {}

  void add_arguments(std::span<const Arg> args) {
    for_each_value(args, [&](ValueId v) {
      const Val made = module_.add_argument(store_.type(v));
      values_.emplace(v, made);
    });
  }
  // An op without a row is written as the prims of its body.
  void write_node(const Node& n) {
    if (!n.op->prim) {
      for (const Node* inner : n.body) write_node(*inner);
      return;
    }
    if (n.op->id == Prim::none || !row_of(n.op->id).write) fail(Code::unimplemented, n.op->name(), " has no row");
    Line line(module_, store_, n, read_);
    row_of(n.op->id).write(line);
    for (size_t i = 0; i < line.results().size(); i++) values_[n.results[i]] = line.results()[i];
  }
  // False for a result that is an operand of the line, or a number.
  bool has_value(ValueId v) const { return values_.contains(v); }
  std::string text(std::span<const ValueId> results, bool aliases) const {
    std::vector<Val> out;
    for (const ValueId v : results) out.push_back(read_(v));
    return module_.text(out, aliases);
  }

 private:
  const Store& store_;
  Module module_;
  std::unordered_map<ValueId, Val> values_;
  const Line::Values read_ = [this](ValueId v) {
    const auto found = values_.find(v);
    // The body of an op that draws reads the random state, which is none of its arguments.
    if (found == values_.end()) fail(Code::unimplemented, "openxla: a line reads a value that no line made");
    return found->second;
  };
};

}  // namespace

const Row& row_of(Prim prim) { return *kRows[static_cast<size_t>(prim)]; }

bool can_write(const Node& node, const Store& store) {
  try {
    Writer writer(store);
    writer.add_arguments(node.args);
    writer.write_node(node);
    return std::all_of(node.results.begin(), node.results.end(), [&](ValueId v) { return writer.has_value(v); });
  } catch (const Error& e) {
    if (e.code() != Code::unimplemented) throw;
    return false;
  }
}

std::string write_module(const NodeView& view, bool aliases) {
  Writer writer(view.store);
  writer.add_arguments(view.node.args);
  for (const Node* n : nodes_of(view.node)) writer.write_node(*n);
  return writer.text(view.node.results, aliases);
}

}  // namespace thunder::openxla
