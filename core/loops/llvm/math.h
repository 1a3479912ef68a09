// Emits elementary functions on float vectors as polynomials, without calls. Errors are below 2 ulp over the whole
// range, with correct NaN, infinities and subnormals.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace thunder::codegen {

// Each takes a float or a vector of floats of any number of lanes. The "target-features" of the function under
// construction say what may be used, such as AVX-512. The builder's fast-math flags do not apply.
llvm::Value* emit_exp(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_log(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_tanh(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_erf(llvm::IRBuilder<>& b, llvm::Value* x);
// These branch to a slower argument reduction if a lane is beyond 2^17. Code after the insertion point moves to a new
// block, and the builder is left at its front, after the results.
llvm::Value* emit_sin(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_cos(llvm::IRBuilder<>& b, llvm::Value* x);
// exp for an x that is not positive, or NaN: fewer steps if the processor cannot scale by powers of two.
llvm::Value* emit_exp_of_negative(llvm::IRBuilder<>& b, llvm::Value* x);
// sin and cos for an x between -1 and 1, or NaN: a third of the steps.
llvm::Value* emit_sin_of_one(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_cos_of_one(llvm::IRBuilder<>& b, llvm::Value* x);

}  // namespace thunder::codegen
