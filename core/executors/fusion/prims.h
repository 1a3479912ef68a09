// The prims that loop nests are made of: the one place where fusion knows ops by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/trace.h"
#include "loops/functions.h"

namespace thunder::fusion {

using namespace loops;

// How a prim is lowered.
enum class Role : uint8_t { elementwise, reduction, view, gather, concat, scan, create };
// Which element types a function takes.
enum class Takes : uint8_t { all, reals };

struct PrimRow {
  std::string_view prim;
  Fn fn;
  Role role;
  Takes takes;
};

// The values that a node reads, in the order of its arguments.
std::vector<ValueId> operands(const Node& line);
// The dims that a reduction reduces: one, or a list of which an empty one means all.
std::vector<size_t> reduced_dims(const Node& line, size_t rank);

// By dim: where the part that a slice cuts out of its operand begins, or an operand of a concatenation in the result.
std::vector<int64_t> starts(const Node& line, const Store& store, size_t operand);

std::span<const PrimRow> prim_rows();
const PrimRow* find_prim(const Op& op);

}  // namespace thunder::fusion
