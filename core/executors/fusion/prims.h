// The table of the prims that fusion can lower, which is the only place where fusion knows ops by name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/symbolic/size.h"
#include "ir/trace.h"
#include "loops/functions.h"

namespace thunder::fusion {

using namespace loops;

// How a prim is lowered.
enum class Role : uint8_t { elementwise, reduction, view, gather, concat, scan, create };
// The element types that a function takes; `divided`: reals, and integers if the target supports their division.
enum class TypeSet : uint8_t { all, reals, divided };

struct PrimRow {
  Prim prim;
  Fn fn;
  Role role;
  TypeSet types;
};

// The values that a node reads, in the order of its arguments.
SmallVector<ValueId, 4> operands(const Node& node);
// The dims that a reduction reduces: one, or a list of which an empty one means all.
std::vector<size_t> reduced_dims(const Node& node, size_t rank);

// By dim: the index in its operand at which a slice begins, or the index in the result at which this operand of a
// concatenation begins.
std::vector<Size> slice_starts(const Node& node, const Store& store, size_t operand);
// Whether it is a slice or a concatenation.
bool has_intervals(const PrimRow& row);

std::span<const PrimRow> prim_rows();
const PrimRow* find_prim(const Op& op);

}  // namespace thunder::fusion
