#include "executors/openxla/rows.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "onnx/export/rows.h"

namespace thunder::openxla {
namespace {

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
    const Row* row = find_row(n.op->name());
    if (!row && !n.op->prim) {
      for (const Node* inner : n.body) write_node(*inner);
      return;
    }
    if (!row || !row->write) fail(Code::unimplemented, n.op->name(), " has no row");
    Line line(module_, store_, n, read_);
    row->write(line);
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

std::span<const Row> rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> out;
    for (const auto of :
         {elementwise_rows, index_rows, random_rows, reduction_rows, scan_rows, shape_rows, special_rows, window_rows})
      out.insert(out.end(), of().begin(), of().end());
    // Prims that no engine supports are listed in one place for all engines.
    const auto ours = [&](std::string_view prim) {
      return std::any_of(out.begin(), out.end(), [&](const Row& r) { return r.prim == prim; });
    };
    for (const onnx_export::Row& other : onnx_export::export_rows())
      if (!other.why_not.empty() && !ours(other.op)) out.push_back({other.op, "", nullptr, other.why_not});
    std::sort(out.begin(), out.end(), [](const Row& a, const Row& b) { return a.prim < b.prim; });
    return out;
  }();
  return all;
}

const Row* find_row(std::string_view prim) {
  const std::span<const Row> all = rows();
  const auto found = std::lower_bound(all.begin(), all.end(), prim, [](auto& r, auto name) { return r.prim < name; });
  return found == all.end() || found->prim != prim ? nullptr : &*found;
}

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
