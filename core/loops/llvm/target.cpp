#include "loops/llvm/target.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

namespace thunder::codegen {

llvm::Expected<llvm::orc::JITTargetMachineBuilder> describe(const loops::TargetOptions* wanted) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (wanted) {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    machine = llvm::orc::JITTargetMachineBuilder(llvm::Triple(wanted->triple));
    machine->setCPU(wanted->cpu);
    machine->getFeatures() = llvm::SubtargetFeatures(wanted->features);
    std::string error;
    if (!llvm::TargetRegistry::lookupTarget(wanted->triple, error)) return llvm::createStringError(error);
  }
  // Code may be loaded at any address.
  if (machine) machine->setRelocationModel(llvm::Reloc::PIC_).setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return machine;
}

}  // namespace thunder::codegen
