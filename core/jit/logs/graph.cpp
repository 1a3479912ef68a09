#include "jit/logs/graph.h"

#include <unordered_map>

#include "base/text.h"

namespace thunder {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class Writer {
 public:
  explicit Writer(const Trace& trace) : trace_(trace) {}

  std::string run() {
    out_ = cat("digraph ", quoted(trace_.function), " {\n  node [shape=box, fontname=\"monospace\"];\n");
    for (const Input& in : trace_.inputs) {
      const std::string box = cat("in", in.index + 1, "_", static_cast<int>(in.source));
      out_ += cat("  ", box, " [style=rounded, label=", quoted(in.name.empty() ? name_of(in) : in.name), "];\n");
      made_[in.value] = box;
    }
    for (const Node* n : trace_.nodes) node(*n);
    for (size_t i = 0; i < trace_.outputs.size(); i++) {
      out_ += cat("  out", i + 1, " [style=rounded, label=\"result ", i + 1, "\"];\n");
      write_edge(trace_.outputs[i], cat("out", i + 1));
    }
    return out_ + "}\n";
  }

 private:
  static std::string name_of(const Input& in) {
    constexpr std::string_view prefixes[] = {"i", "p", "c"};
    return cat(prefixes[static_cast<size_t>(in.source)], "[", in.index + 1, "]");
  }
  void write_edge(ValueId value, const std::string& to) {
    const auto from = made_.find(value);
    if (from == made_.end()) return;
    out_ += cat("  ", from->second, " -> ", to, " [label=", quoted(std::string(name(trace_.type(value)))), "];\n");
  }
  void line(const Node& n) {
    const std::string box = cat("n", ++lines_);
    const bool by = n.executor && n.op->name() != "region";
    out_ += cat("  ", box, " [label=", quoted(cat(n.op->name(), by ? cat(" by ", n.executor) : "")),
                n.where ? cat(", tooltip=", quoted(n.where)) : "", "];\n");
    for_each_value(n.args, [&](ValueId v) { write_edge(v, box); });
    for (ValueId r : n.results) made_[r] = box;
  }
  void node(const Node& n) {
    if (n.op->name() != "region") return line(n);
    const std::string title = cat("kernel ", ++kernels_, " by ", n.executor ? n.executor : "nobody");
    out_ += cat("  subgraph cluster", kernels_, " {\n  label=", quoted(title), "; style=filled; color=lightgrey;\n");
    for (const Node* inner : n.body) line(*inner);
    out_ += "  }\n";
  }

  const Trace& trace_;
  std::string out_;
  std::unordered_map<ValueId, std::string> made_;  // the box that has it
  size_t lines_ = 0, kernels_ = 0;
};

}  // namespace

std::string graphviz(const Trace& trace) { return Writer(trace).run(); }

}  // namespace thunder
