// How names, numbers and types are spelled in the text of a trace: what print writes and parse reads back.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/trace.h"

namespace thunder::spelling {

// Whether an op's name can stand as it is. Lua's keywords and what a trace's chunk uses itself (t, inf, f32, s0 ...)
// are called as op["NAME"](...) instead.
bool is_bare(std::string_view op_name);

// Exact: hex, or inf, -inf, nan. Always has a 'p' when finite, so that it never reads back as an integer.
void append_real(std::string& out, double v);
void append_integer(std::string& out, int64_t v);
// A Lua string in double quotes.
void append_quoted(std::string& out, std::string_view text);
// Free text inside a comment: control characters become \ddd, so that it stays on its line.
void append_comment(std::string& out, std::string_view text);
void append_device(std::string& out, Device device);  // cpu, cuda(0), device(KIND, INDEX)
// A symbol is s0, or what `symbol_names` calls its number; an expression is (s0 * 2) with Lua's operators.
void append_dim(std::string& out, Dim dim, std::span<const std::string> symbol_names = {});
void append_type(std::string& out, const TensorType& type);

// After the type of a result that lies as [N, H, W, C].
constexpr std::string_view kChannelsLast = "{1,3,2,0}";

// Above this many values at once Lua 5.4 runs out of registers: lists go through table.unpack and table.move.
constexpr size_t kMaxAtOnce = 100;

// The op of lines that an executor runs as one; they print as a block.
constexpr std::string_view kRegion = "region";
// The op of lines that a backward computes again; they print as a block, too.
constexpr std::string_view kCheckpoint = "checkpoint";
constexpr size_t kDeepestBlock = 100;
inline bool is_block(std::string_view op) { return op == kRegion || op == kCheckpoint; }

// Calls f(line) for each line that a node of a trace is printed as, in order: a block's are those of its body. The
// results of the lines are t[1], t[2] and so on.
template <class F>
void for_each_line(const Node& n, const F& f) {
  if (!is_block(n.op->name())) return f(n);
  for (const Node* inner : n.body) for_each_line(*inner, f);
}

}  // namespace thunder::spelling
