// Rewrite rules as text, "sub(x, neg(y)) -> add(x, y)", read once and matched against lines.
//
// A name followed by parentheses is an op, any other name a variable, which stands for whatever argument is there (a
// value, a list of dims ...) and for the same one everywhere. A number stands for a tensor filled with it, or for an
// argument that is that number; 0 is not -0.0. On the right a number is a constant of the result's type. Arguments
// that a rule leaves out at the end must have their defaults. After "if", guards (passes/guard.h) joined by "and".
#pragma once

#include <string>
#include <vector>

#include "ops/builder.h"
#include "passes/guard.h"

namespace thunder {

// One place of a rule. The terms of a side are in reading order, so that a term's first argument follows it.
struct Term {
  enum class Kind : uint8_t { variable, number, call };
  Kind kind = Kind::variable;
  uint32_t variable = 0;
  double number = 0;
  const OpDef* op = nullptr;
  std::vector<uint32_t> args;  // terms, by the schema's order
};

struct Rule {
  std::vector<Term> left, right;        // [0] is the outermost
  std::vector<std::string> variables;
  std::vector<Guard> guards;            // all must hold

  // Names are op names with `prefix` before them: "prims." makes "add" mean prims.add. Throws with the column.
  Rule(std::string_view text, const Registry& registry, std::string_view prefix = "");

  // What each variable stands for when `node` is an instance of the left side; empty otherwise.
  bool match(const Rewriter& rewriter, const Node& node, std::vector<Arg>& bound) const;
  // The value of one side under an assignment, recorded through any builder. Numbers take `type`.
  ValueId build(Builder& builder, const std::vector<Term>& side, std::span<const Arg> bound,
                const TensorType& type) const;
};

// Applies the rules, in order, to every line and what comes of it, each rule at most once.
std::optional<Trace> apply_rules(const Trace& trace, const Registry& registry, std::span<const Rule> rules,
                                 bool (*allowed)(size_t rule, const TensorType& result, const void* user) = nullptr,
                                 const void* user = nullptr);

}  // namespace thunder
