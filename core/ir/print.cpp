#include "ir/print.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "ir/draws.h"
#include "ir/spelling.h"
#include "ir/symbols.h"

namespace thunder {
namespace {

using namespace spelling;

class Printer {
 public:
  Printer(const Trace& trace, PrintOptions options) : trace_(trace), options_(options), names_(trace.store->size()) {
    for (const Input& in : trace.inputs) name(in.value, "ipc"[static_cast<size_t>(in.source)], in.index + 1);
  }

  std::string print_function() {
    header();
    out_ += "return function(p, c, i)\n  local t = {}\n";
    for (const Symbol& s : used_symbols(trace_))
      out_ += cat("  local s", s.number, " = ", s.hint, "\n");
    for (const Node* n : trace_.nodes) {
      if (is_block(n->op->name())) block(*n, "  ");
      else statement(*n, "  ");
    }
    epilogue();
    return std::move(out_);
  }

  std::string line(const Node& wanted) {
    for (const Node* n : trace_.nodes) {
      for_each_line(*n, [this](const Node& line) { number(line, 't', values_); });
      if (n == &wanted) break;
    }
    call(wanted);
    return std::move(out_);
  }

 private:
  struct Name {
    char table = 0;
    uint32_t number = 0;
  };

  void name(ValueId v, char table, uint32_t number) {
    if (v < names_.size()) names_[v] = {table, number};
  }
  void number(const Node& n, char table, uint32_t& counter) {
    for (ValueId r : n.results) name(r, table, options_.ids ? r : ++counter);
  }

  void statement(const Node& n, std::string_view indent) {
    number(n, 't', values_);
    out_ += indent;
    call(n);
    comment(n);
    out_ += '\n';
    if (options_.bodies) body(n, 1);
  }

  // Lines that belong together are printed as a block, whose comment names the values that leave it.
  void block(const Node& n, const std::string& indent) {
    std::string before = std::move(out_);
    out_.clear();
    const char* const outside = std::exchange(outer_, n.executor);
    for (const Node* inner : n.body) {
      if (is_block(inner->op->name())) block(*inner, indent + "  ");
      else statement(*inner, indent + "  ");
    }
    outer_ = outside;
    std::string lines = std::exchange(out_, std::move(before));
    out_ += cat(indent, "do  -- ", n.op->name(), ' ');
    values(n.results);
    print_executor_and_place(n);
    out_ += cat("\n", lines, indent, "end\n");
  }

  void header() {
    out_ += "-- libthunder trace 1: ";
    append_comment(out_, trace_.function);
    if (!trace_.pass.empty()) {
      out_ += ", after ";
      append_comment(out_, trace_.pass);
    }
    std::array<char, 64> buffer;
    auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), trace_.milliseconds, std::chars_format::fixed, 3);
    out_ += " (";
    out_.append(buffer.data(), end.ec == std::errc() ? end.ptr : buffer.data());
    out_ += " ms)\n";
    for (const Input& in : trace_.inputs) {
      out_ += cat("-- ", "ipc"[static_cast<size_t>(in.source)], "[", in.index + 1, "]");
      if (!in.name.empty()) out_ += ' ';
      append_comment(out_, in.name);
      out_ += ": ";
      append_type(out_, trace_.type(in.value));
      out_ += '\n';
    }
    const bool numbers = std::any_of(trace_.inputs.begin(), trace_.inputs.end(),
                                     [&](const Input& in) { return trace_.type(in.value).weak; });
    if (numbers) out_ += "-- ~: a number, not a tensor: beside tensors its kind counts, not its width\n";
  }

  void value(ValueId v) {
    const Name n = v < names_.size() ? names_[v] : Name{};
    // Only an invalid trace has such a value; printing must still work, for debugging.
    if (!n.table) return append(out_, cat("undefined(", v, ")"));
    out_ += n.table;
    out_ += '[';
    append(out_, n.number);
    out_ += ']';
  }
  void values(std::span<const ValueId> list) {
    for (size_t i = 0; i < list.size(); i++) {
      if (i) out_ += ", ";
      value(list[i]);
    }
  }

  void arg(const Arg& a) {
    auto list = [&](auto items, auto&& one) {
      out_ += '{';
      for (size_t i = 0; i < items.size(); i++) {
        if (i) out_ += ", ";
        one(items[i]);
      }
      out_ += '}';
    };
    switch (a.kind) {
      case ArgKind::none: out_ += "nil"; break;
      case ArgKind::value: value(a.v); break;
      case ArgKind::integer: append_integer(out_, a.i); break;
      case ArgKind::symbolic: append_dim(out_, a.dim()); break;
      case ArgKind::real: append_real(out_, a.f); break;
      case ArgKind::boolean: append(out_, a.i != 0); break;
      case ArgKind::string: append_quoted(out_, a.text()); break;
      case ArgKind::dims: list(a.dim_list(), [&](Dim d) { append_dim(out_, d); }); break;
      case ArgKind::reals: list(a.real_list(), [&](double f) { append_real(out_, f); }); break;
      case ArgKind::values: list(a.value_list(), [&](ValueId v) { value(v); }); break;
      case ArgKind::dtype: out_ += thunder::name(a.dtype); break;
      case ArgKind::device: append_device(out_, a.device); break;
    }
  }

  // NAME(ARGUMENT, ...), less what equals the schema's defaults at the end.
  void invocation(const Node& n) {
    const auto& params = n.op->schema.params;
    size_t count = n.args.size();
    auto implied = [&](size_t i) {
      return i < params.size() && (params[i].has_default || params[i].optional) && same(n.args[i], params[i].fallback);
    };
    while (count > 0 && implied(count - 1)) count--;
    if (is_bare(n.op->name())) {
      out_ += n.op->name();
    } else {
      out_ += "op[";
      append_quoted(out_, n.op->name());
      out_ += ']';
    }
    out_ += '(';
    for (size_t i = 0; i < count; i++) {
      if (i) out_ += ", ";
      arg(n.args[i]);
    }
    out_ += ')';
  }

  void call(const Node& n) {
    if (n.results.size() > kMaxAtOnce) {
      out_ += "table.move({";
      invocation(n);
      out_ += cat("}, 1, ", n.results.size(), ", ", names_[n.results[0]].number, ", ", names_[n.results[0]].table, ")");
      return;
    }
    values(n.results);
    if (!n.results.empty()) out_ += " = ";
    invocation(n);
  }

  void comment(const Node& n) {
    out_ += "  -- ";
    if (n.results.empty()) out_ += "()";
    for (size_t i = 0; i < n.results.size(); i++) {
      if (i) out_ += ", ";
      append_type(out_, trace_.type(n.results[i]));
      if (std::binary_search(options_.channels_last.begin(), options_.channels_last.end(), n.results[i]))
        out_ += kChannelsLast;
    }
    if (auto draw = first_draw(n); draw && !n.op->prim) {
      out_ += cat(" drawing ", draw->ordinal, " from ");
      value(draw->state);
    }
    print_executor_and_place(n);
  }
  void print_executor_and_place(const Node& n) {
    if (n.executor && (!outer_ || std::string_view(n.executor) != outer_)) {
      out_ += " by ";
      append_comment(out_, n.executor);
    }
    if (n.where) {
      out_ += " at ";
      append_comment(out_, n.where);
    }
  }

  // Depth is that of the ops' own definitions.
  void body(const Node& n, size_t depth) {
    const char* const outside = std::exchange(outer_, n.executor);
    for (const Node* inner : n.body) {
      for (ValueId r : inner->results)
        if (r < names_.size() && !names_[r].table) name(r, 'u', ++inner_values_);
      out_ += "  --";
      out_.append(2 * depth, ' ');
      call(*inner);
      comment(*inner);
      out_ += '\n';
      body(*inner, depth + 1);
    }
    outer_ = outside;
  }

  void epilogue() {
    for (const Write& w : trace_.writes) {
      const Input& in = trace_.inputs[w.input];
      out_ += cat("  copy_(", "ipc"[static_cast<size_t>(in.source)], "[", in.index + 1, "], ");
      value(w.value);
      out_ += ")\n";
    }
    const bool many = trace_.outputs.size() > kMaxAtOnce;
    out_ += trace_.outputs.empty() ? "  return" : many ? "  return table.unpack({" : "  return ";
    values(trace_.outputs);
    out_ += many ? "})\nend\n" : "\nend\n";
  }

  const Trace& trace_;
  PrintOptions options_;
  std::vector<Name> names_;
  uint32_t values_ = 0, inner_values_ = 0;
  const char* outer_ = nullptr;  // the executor of the line whose body is printed: its lines need not name it again
  std::string out_;
};

}  // namespace

std::string print(const Trace& trace, PrintOptions options) { return Printer(trace, options).print_function(); }
std::string print_line(const Trace& trace, const Node& node) { return Printer(trace, {}).line(node); }

}  // namespace thunder
