// Rewrite rules such as "sub(x, neg(y)) -> add(x, y)": parsed once, and matched against nodes.
//
// A name followed by parentheses is an op. Any other name is a variable, which matches any argument (a value, a list of
// dims ...), and the same one everywhere in the rule. A number matches a tensor filled with it, or an argument that is
// that number; 0 does not match -0.0. On the right a number is a constant of the result's type. Arguments that a rule
// leaves out at the end must have their defaults. After "if" there may be guards (passes/guard.h) joined by "and".
#pragma once

#include <string>
#include <vector>

#include "ops/builder.h"
#include "passes/guard.h"

namespace thunder {

// A node of a rule's expression tree. The terms of a side are in preorder, so that a term's first argument follows it.
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

  // Whether the node matches the left side. Sets `bound` to the argument of each variable.
  bool match(const Rewriter& rewriter, const Node& node, std::vector<Arg>& bound) const;
  // Records one side with these arguments for its variables, and returns its value. Numbers get the type `type`.
  ValueId build(Builder& builder, const std::vector<Term>& side, std::span<const Arg> bound,
                const TensorType& type) const;
};

// Applies the rules in order to every node and to what replaces it, each rule at most once.
std::optional<Trace> apply_rules(const Trace& trace, const Registry& registry, std::span<const Rule> rules,
                                 bool (*allowed)(size_t rule, const TensorType& result, const void* user) = nullptr,
                                 const void* user = nullptr);

}  // namespace thunder
