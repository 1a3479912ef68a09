#include "loops/llvm/target.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include <memory>

namespace thunder::codegen {
namespace {

// LLVM ends the process when code is asked for of a processor that it does not know, or that lacks what the triple
// needs of it.
bool is_processor(const llvm::Target& target, const loops::TargetOptions& wanted) {
  const std::unique_ptr<llvm::MCSubtargetInfo> any(target.createMCSubtargetInfo(wanted.triple, "", ""));
  if (!any || !any->isCPUStringValid(wanted.cpu)) return false;
  const std::unique_ptr<llvm::MCSubtargetInfo> that(target.createMCSubtargetInfo(wanted.triple, wanted.cpu, ""));
  return that && (llvm::Triple(wanted.triple).getArch() != llvm::Triple::x86_64 || that->checkFeatures("+64bit"));
}

}  // namespace

llvm::Expected<llvm::orc::JITTargetMachineBuilder> describe(const loops::TargetOptions* wanted) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (wanted) {
#ifndef THUNDER_LLVM_NATIVE  // where LLVM is a part of the module, it knows this processor's kind alone
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
#endif
    machine = llvm::orc::JITTargetMachineBuilder(llvm::Triple(wanted->triple));
    machine->setCPU(wanted->cpu);
    machine->getFeatures() = llvm::SubtargetFeatures(wanted->features);
    std::string error;
    const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(wanted->triple, error);
    if (!target) return llvm::createStringError(error);
    if (!is_processor(*target, *wanted)) return llvm::createStringError("no such processor");
  }
  // Code may be loaded at any address.
  if (machine) machine->setRelocationModel(llvm::Reloc::PIC_).setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return machine;
}

}  // namespace thunder::codegen
