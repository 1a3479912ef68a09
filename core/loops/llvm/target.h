// The machine that code is generated for, in LLVM's terms.
#pragma once

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>

#include "loops/emitter.h"

namespace thunder::codegen {

// Null: the machine at hand. Fails when LLVM does not know it.
llvm::Expected<llvm::orc::JITTargetMachineBuilder> describe(const loops::TargetOptions* wanted);

}  // namespace thunder::codegen
