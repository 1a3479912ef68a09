// Elementary functions on float vectors as LLVM instructions, without calls: polynomials within 2 ulp over the whole
// range; NaN gives NaN, infinities and denormals are right.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace thunder::codegen {

// Each takes and gives a float or a vector of floats of any number of lanes.
llvm::Value* emit_exp(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_log(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_tanh(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_erf(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_sin(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_cos(llvm::IRBuilder<>& b, llvm::Value* x);

}  // namespace thunder::codegen
