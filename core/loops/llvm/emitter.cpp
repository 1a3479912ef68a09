// The module's one export, which compiles nests to machine code. ORC, LLVM's just-in-time linker, loads it.
#include "loops/emitter.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <atomic>
#include <cstring>

#include "loops/callable.h"
#include "loops/llvm/nest_code.h"
#include "loops/llvm/target.h"

namespace thunder::codegen {
namespace {

// The code is vectorized when it is emitted, so only clean-up passes run.
constexpr char kPasses[] =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop-mssa(licm),"
    "early-cse,adce,simplifycfg)";

class LlvmEmitter : public loops::Emitter {
 public:
  static LlvmEmitter* make(const loops::TargetOptions* target) {
    auto builder = describe(target);
    if (!builder) return llvm::consumeError(builder.takeError()), nullptr;
    if (target) return new LlvmEmitter(std::move(*builder), nullptr);
    auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
    if (!jit) return llvm::consumeError(jit.takeError()), nullptr;
    return new LlvmEmitter(std::move(*builder), std::move(*jit));
  }

  const char* target() const override { return target_.c_str(); }
  loops::Object compile(const CpuNest& nest, const char* name) override;
  std::string text(const CpuNest& nest, const char* name, bool assembly) override;
  loops::KernelFn load(const std::vector<char>& code, const char* name, std::string& error) override;

 private:
  LlvmEmitter(llvm::orc::JITTargetMachineBuilder builder, std::unique_ptr<llvm::orc::LLJIT> jit)
      : builder_(std::move(builder)), jit_(std::move(jit)) {
    target_ = "llvm " + std::string(LLVM_VERSION_STRING) + " " + builder_.getTargetTriple().str() + " " +
              builder_.getCPU() + " " + builder_.getFeatures().getString();
    if (jit_) define_functions();
  }
  void define_functions();
  // Emits the nest as a function of a module; returns "" or an error.
  std::string emit(const CpuNest& nest, const char* name, llvm::TargetMachine& machine, llvm::Module& module) const;

  llvm::orc::JITTargetMachineBuilder builder_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;  // null: for another machine
  std::string target_;
  std::atomic<unsigned> libraries_{0};
};

void LlvmEmitter::define_functions() {
  llvm::orc::SymbolMap symbols;
  for (const loops::Callable& c : loops::callable_functions())
    symbols[jit_->mangleAndIntern(c.name)] = {llvm::orc::ExecutorAddr::fromPtr(c.address),
                                              llvm::JITSymbolFlags::Exported};
  llvm::cantFail(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))));
}

llvm::Function* declare(llvm::Module& module, const char* name, const llvm::orc::JITTargetMachineBuilder& target) {
  auto& c = module.getContext();
  auto* pointer = llvm::PointerType::getUnqual(c);
  auto* i64 = llvm::Type::getInt64Ty(c);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), {pointer, pointer, i64, i64, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  function->addFnAttr("target-cpu", target.getCPU());
  function->addFnAttr("target-features", target.getFeatures().getString());
  function->addFnAttr("no-trapping-math", "true");
  function->addFnAttr("no-builtins");
  // x86: use registers as wide as they are; by default LLVM prefers narrower ones.
  function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr("min-legal-vector-width", "512");
  // Row buffers make large frames: a stack overflow must hit the guard page.
  function->addFnAttr("probe-stack", "inline-asm");
  function->setDoesNotThrow();
  for (unsigned i : {0u, 1u, 4u}) function->addParamAttr(i, llvm::Attribute::NoAlias);
  return function;
}

// Whether the target converts between f16 and f32 by instructions. On others LLVM would call functions of the
// compiler's run-time library, which the process may lack.
bool converts_f16(const llvm::TargetMachine& machine) {
  const llvm::Triple& triple = machine.getTargetTriple();
  return triple.isAArch64() || (triple.isX86() && machine.getMCSubtargetInfo()->checkFeatures("+f16c"));
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(&machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager manager;
  llvm::cantFail(passes.parsePassPipeline(manager, kPasses));
  manager.run(module, modules);
}

std::string LlvmEmitter::emit(const CpuNest& nest, const char* name, llvm::TargetMachine& machine,
                              llvm::Module& module) const {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  llvm::Function* function = declare(module, name, builder_);
  if (converts_f16(machine)) function->addFnAttr(kConvertsF16);
  const llvm::TargetTransformInfo tti = machine.getTargetTransformInfo(*function);
  const auto bits = tti.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  NestCode(nest, function, choose_lanes(nest, static_cast<unsigned>(std::max<uint64_t>(bits, 128))), tti).emit();
  std::string error;
  llvm::raw_string_ostream wrong(error);
  if (llvm::verifyModule(module, &wrong)) return error;
  optimize(module, machine);
  return "";
}

// Emits the module as an object or as text. False: the target cannot.
bool emit_file(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
               llvm::SmallVector<char, 0>& bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, type)) return false;
  codegen.run(module);
  return true;
}

loops::Object LlvmEmitter::compile(const CpuNest& nest, const char* name) {
  loops::Object object;
  auto machine = builder_.createTargetMachine();
  if (!machine) {
    object.error = llvm::toString(machine.takeError());
    return object;
  }
  llvm::LLVMContext context;
  llvm::Module module("nest", context);
  object.error = emit(nest, name, **machine, module);
  llvm::SmallVector<char, 0> bytes;
  if (object.error.empty() && !emit_file(module, **machine, llvm::CodeGenFileType::ObjectFile, bytes))
    object.error = "this target emits no object files";
  object.code.assign(bytes.begin(), bytes.end());
  return object;
}

std::string LlvmEmitter::text(const CpuNest& nest, const char* name, bool assembly) {
  auto machine = builder_.createTargetMachine();
  if (!machine) return llvm::toString(machine.takeError());
  llvm::LLVMContext context;
  llvm::Module module("nest", context);
  if (std::string error = emit(nest, name, **machine, module); !error.empty()) return error;
  if (!assembly) {
    std::string out;
    llvm::raw_string_ostream stream(out);
    module.print(stream, nullptr);
    return out;
  }
  llvm::SmallVector<char, 0> bytes;
  if (!emit_file(module, **machine, llvm::CodeGenFileType::AssemblyFile, bytes)) return "this target emits no assembly";
  return std::string(bytes.begin(), bytes.end());
}

// Each object gets its own JITDylib, so that all may export the same name.
loops::KernelFn LlvmEmitter::load(const std::vector<char>& code, const char* name, std::string& error) {
  if (!jit_) return error = "code for " + builder_.getTargetTriple().str() + " does not run here", nullptr;
  auto made = jit_->createJITDylib("kernel" + std::to_string(libraries_++));
  if (!made) return error = llvm::toString(made.takeError()), nullptr;
  made->addToLinkOrder(jit_->getMainJITDylib());
  llvm::SmallVector<char, 0> bytes(code.begin(), code.end());
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), false);
  if (auto failed = jit_->addObjectFile(*made, std::move(buffer)))
    return error = llvm::toString(std::move(failed)), nullptr;
  auto found = jit_->lookup(*made, name);
  if (!found) return error = llvm::toString(found.takeError()), nullptr;
  return found->toPtr<loops::KernelFn>();
}

}  // namespace
}  // namespace thunder::codegen

extern "C" __attribute__((visibility("default"))) thunder::loops::Emitter* thunder_make_emitter(
    uint32_t version, const thunder::loops::TargetOptions* target) {
  return version == thunder::loops::kEmitterVersion ? thunder::codegen::LlvmEmitter::make(target) : nullptr;
}
