// Elementary functions on float vectors as LLVM instructions, without calls: polynomials within 2 ulp over the whole
// range; NaN gives NaN, infinities and denormals are right.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace thunder::codegen {

// Each takes and gives a float or a vector of floats of any number of lanes, whose function's "target-features" say
// what may be used: AVX-512 where they have it. The builder's fast-math flags do not reach the instructions.
llvm::Value* emit_exp(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_log(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_tanh(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_erf(llvm::IRBuilder<>& b, llvm::Value* x);
// These branch to a slower reduction when a lane is beyond 2^17: what follows the builder's place moves to a new block,
// at whose front, behind the results, the builder is left.
llvm::Value* emit_sin(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_cos(llvm::IRBuilder<>& b, llvm::Value* x);
// Of an x that is not positive, or NaN: some steps less where the processor does not scale by powers of two.
llvm::Value* emit_exp_of_negative(llvm::IRBuilder<>& b, llvm::Value* x);
// Of an x between -1 and 1, or NaN: a third of the steps.
llvm::Value* emit_sin_of_one(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_cos_of_one(llvm::IRBuilder<>& b, llvm::Value* x);

}  // namespace thunder::codegen
