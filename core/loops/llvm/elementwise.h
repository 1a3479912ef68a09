// Emits the functions that expressions apply, on one element or on a vector of them.
//
// In registers a boolean is i1, bf16 and f16 are float (rounded after every function), others are themselves.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "loops/value_ranges.h"

namespace thunder::codegen {

using loops::Fn;
using Builder = llvm::IRBuilder<>;

// The attribute of functions for targets that convert between f16 and f32 by instructions.
constexpr char kConvertsF16[] = "thunder-converts-f16";

// The register type of an element, and its type in memory.
llvm::Type* register_type(llvm::LLVMContext& c, DType d);
llvm::Type* memory_type(llvm::LLVMContext& c, DType d);
inline bool is_vector(llvm::Value* v) { return v->getType()->isVectorTy(); }
// The type `element`, as a vector if `like` is one.
llvm::Type* same_shape_type(llvm::Value* like, llvm::Type* element);
llvm::Value* constant_like(llvm::Value* like_lanes, llvm::Type* element, double value);

// Between registers and memory; 16-bit reals and booleans differ there.
llvm::Value* to_memory(Builder& b, llvm::Value* v, DType d);
llvm::Value* from_memory(Builder& b, llvm::Value* v, DType d);

llvm::Value* convert(Builder& b, llvm::Value* v, DType from, DType to);
// Requires: operands have equal lanes and, except for `where`, the type `in`. The result has the type `out`. `known`:
// the value range of the first operand.
llvm::Value* apply(Builder& b, Fn fn, llvm::ArrayRef<llvm::Value*> operands, DType in, DType out,
                   const loops::ValueRange& known = {});

// Reductions: the neutral element, and one step. Types are those of `accumulator`.
DType accumulator(DType d);
llvm::Value* neutral(llvm::LLVMContext& c, Fn fn, DType d);
llvm::Value* combine(Builder& b, Fn fn, llvm::Value* sum, llvm::Value* v, DType d);

// Uniform in [0, 1): element number n (i64) of a draw of Philox4x32-10; seed and call i64.
llvm::Value* philox_uniform(Builder& b, llvm::Value* n, llvm::Value* seed, llvm::Value* call, llvm::Value* ordinal,
                            DType d);

}  // namespace thunder::codegen
