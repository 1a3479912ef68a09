// The text of a trace back into a trace. The text may come from anywhere: whatever it says, the outcome is a trace
// that verifies or an error with line and column. It is a small subset of Lua, one statement a line:
//
//   trace   = header {input} [remark] "return function(p, c, i)" "local t = {}" {symbol} {line} {write} return "end"
//   header  = "-- libthunder trace 1: " FUNCTION [", after " PASS] " (" NUMBER " ms)"
//   input   = "-- " ("i" | "p" | "c") "[" K "]" [" " NAME] ": " type
//   remark  = "-- ~" ...                                         what "~" in types means
//   symbol  = "local s" K "=" INTEGER                             a size that is known only when called; as traced
//   line    = [value {"," value} "="] call [comment]
//           | "table.move({" call "}, 1," COUNT "," FIRST ", t)" [comment]   more results than Lua can assign at once
//   write   = "copy_(" value "," value ")"                        into an input, after the last line
//   return  = "return" [value {"," value}] | "return table.unpack({" value {"," value} "})"
//   call    = (NAME {"." NAME} | "op[" STRING "]") "(" [argument {"," argument}] ")"
//   argument = value | size | NUMBER | STRING | "nil" | "true" | "false" | DTYPE | device
//           | "{" [argument {"," argument}] "}"                   of one kind; the op's schema says which
//   value   = ("t" | "i" | "p" | "c") "[" K "]"
//   size    = INTEGER | "s" K | "(" size ("+" | "-" | "*" | "//" | "%") size ")"
//   device  = "cpu" | "cuda(" K ")" | "device(" K "," K ")"
//   comment = "--" (type {"," type} | "()") [" drawing " ORDINAL " from " value] [" by " EXECUTOR] [" at " WHERE]
//   type    = [device] DTYPE ["~"] "[" [size {"," size}] "]"
//
// Reals are exact: hex floats, inf, nan (decimal ones are read too). Ops whose name Lua or the chunk gives another
// meaning are called through op. Arguments at the end that equal their defaults may be left out. Lines that are only
// a comment are skipped. In comments a control character or a backslash is \ddd.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "ir/draws.h"
#include "ir/trace.h"

namespace thunder {

// A line that was read: arguments are complete, in the schema's order, and borrowed.
struct ParsedLine {
  const Op& op;
  std::span<const Arg> args;
  size_t results;                  // how many values it defines
  const char* where;               // in the store, or null
  const char* executor;
  std::optional<FirstDraw> draw;   // the line's comment says so when its decomposition draws
};

// Finds ops by name; a higher layer implements it.
class OpSource {
 public:
  virtual ~OpSource() = default;
  virtual const Op* find(std::string_view name) = 0;  // null: no such op
  virtual const std::shared_ptr<Store>& store() = 0;
  // The line's node with new values, their types and its decomposition derived anew. Throws what the op's checks throw.
  virtual const Node* build(const ParsedLine& line) = 0;
};

Trace parse(std::string_view text, OpSource& source);

}  // namespace thunder
