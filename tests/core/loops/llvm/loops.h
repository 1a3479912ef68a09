// Compiled loops that apply one elementary function to an array.
#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace thunder::codegen {

using Emit = llvm::Value* (*)(llvm::IRBuilder<>&, llvm::Value*);
using Loop = void (*)(const float* in, float* out, int64_t count);  // requires: count > 0 is a multiple of the lanes

inline void know_targets() {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
}

struct Target {
  std::string triple, cpu, features;

  static Target host() {
    know_targets();
    auto found = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
    return {found.getTargetTriple().str(), found.getCPU(), found.getFeatures().getString()};
  }
  static Target avx2() { return {host().triple, "x86-64-v3", ""}; }
  static Target neon() { return {"aarch64-unknown-linux-gnu", "generic", "+neon"}; }
  bool can_run() const {
    return cpu != "x86-64-v3" || host().features.find("+avx2") != std::string::npos;
  }
};

// One lane is a plain float.
inline void build_loop(llvm::Module& module, const Target& target, Emit emit, unsigned lanes) {
  auto& context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type* type = lanes == 1 ? b.getFloatTy() : llvm::FixedVectorType::get(b.getFloatTy(), lanes);
  auto* signature = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()}, false);
  auto* f = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, "loop", module);
  f->addFnAttr("target-cpu", target.cpu);
  f->addFnAttr("target-features", target.features);
  f->addFnAttr("prefer-vector-width", "512");
  f->addFnAttr(llvm::Attribute::NoUnwind);
  auto* entry = llvm::BasicBlock::Create(context, "entry", f);
  auto* body = llvm::BasicBlock::Create(context, "body", f);
  auto* exit = llvm::BasicBlock::Create(context, "exit", f);
  b.SetInsertPoint(entry);
  b.CreateBr(body);
  b.SetInsertPoint(body);
  auto* i = b.CreatePHI(b.getInt64Ty(), 2);
  auto at = [&](unsigned argument) { return b.CreateGEP(b.getFloatTy(), f->getArg(argument), i); };
  llvm::Value* x = b.CreateAlignedLoad(type, at(0), llvm::Align(4));
  b.CreateAlignedStore(emit(b, x), at(1), llvm::Align(4));
  llvm::Value* next = b.CreateAdd(i, b.getInt64(lanes));
  i->addIncoming(b.getInt64(0), entry);
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, f->getArg(2)), body, exit);
  b.SetInsertPoint(exit);
  b.CreateRetVoid();
  if (llvm::verifyFunction(*f, &llvm::errs())) throw std::logic_error("the emitted function is malformed");
}

class CompiledLoop {
 public:
  CompiledLoop(const Target& target, Emit emit, unsigned lanes) {
    llvm::orc::JITTargetMachineBuilder machine{llvm::Triple(target.triple)};
    machine.setCPU(target.cpu).setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
    machine.getFeatures() = llvm::SubtargetFeatures(target.features);
    jit_ = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("loops", *context);
    module->setDataLayout(jit_->getDataLayout());
    build_loop(*module, target, emit, lanes);
    llvm::cantFail(jit_->addIRModule({std::move(module), std::move(context)}));
    loop_ = llvm::cantFail(jit_->lookup("loop")).toPtr<Loop>();
  }
  void operator()(const float* in, float* out, int64_t count) const { loop_(in, out, count); }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  Loop loop_;
};

inline std::string assembly(const Target& target, Emit emit, unsigned lanes) {
  know_targets();
  std::string error;
  const auto* backend = llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (!backend) throw std::runtime_error(error);
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(target.triple, target.cpu, target.features, {}, llvm::Reloc::PIC_));
  llvm::LLVMContext context;
  llvm::Module module("loops", context);
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine->createDataLayout());
  build_loop(module, target, emit, lanes);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    throw std::logic_error("the target writes no assembly");
  passes.run(module);
  return std::string(text);
}

}  // namespace thunder::codegen
