// Signatures of operations: "sum(tensor input, int[]? dim=None, bool keepdim=False) -> tensor".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/arg.h"

namespace thunder {

enum class ParamKind : uint8_t { tensor, tensors, integer, real, boolean, string, dims, reals, dtype, device };

struct Param {
  std::string name;
  ParamKind kind = ParamKind::tensor;
  bool number = false;       // of a tensor: a plain number may stand for it
  bool text = false;         // of a list of integers: a string may stand for it
  bool optional = false;     // '?': None is allowed
  bool has_default = false;  // may be left out at the end of a call
  Arg fallback;              // the default; its lists and strings live in the schema
};

// The number of kernel inputs for an argument; an absent tensor counts as one.
inline size_t inputs_of(const Arg& a, const Param& param) {
  if (a.kind == ArgKind::values) return a.value_list().size();
  return a.kind == ArgKind::value || (a.kind == ArgKind::none && param.kind == ParamKind::tensor);
}

struct Schema {
  std::string name;
  std::vector<Param> params;
  std::vector<ParamKind> results;  // tensor, or one tensors
  size_t optional_results = 0;     // how many at the end are there only if the arguments ask for them
  std::vector<std::string> result_names;  // of each result; empty: they have none
  std::string text;                // as written

  int find(std::string_view param) const;  // -1: no such parameter
  bool lists() const { return results.size() == 1 && results[0] == ParamKind::tensors; }
  // Whether the number of results depends on the arguments.
  bool variadic() const { return lists() || optional_results > 0; }

  Schema() = default;
  // Moves keep the addresses that defaults point to; copies would not.
  Schema(Schema&&) = default;
  Schema& operator=(Schema&&) = default;

 private:
  friend Schema parse_schema(std::string_view);
  std::vector<std::unique_ptr<Dim[]>> dims_;
  std::vector<std::unique_ptr<double[]>> reals_;
  std::vector<std::unique_ptr<char[]>> strings_;
};

// Throws with the position of the first thing it does not understand.
// Kinds: tensor tensor|number tensor[] int float bool str int[] int[]|str float[] dtype device, '?' behind: optional;
// defaults, of the parameter's kind: None, True, False, numbers, 'text', [] and [1, 2].
// Results: tensor, (tensor, tensor), tensor[]; (tensor, tensor?) where a result is there only if the arguments ask for
// it; (tensor values, tensor indices) where they have names.
Schema parse_schema(std::string_view text);

std::string_view kind_name(ParamKind);

}  // namespace thunder
