#include "loops/llvm/kernel.h"

namespace thunder::codegen {

using llvm::Value;

Builder& Kernel::insert_entry_block(Builder& b, llvm::Function* function) {
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  return b;
}

Kernel::Kernel(const CpuNest& n, llvm::Function* f, unsigned l, const llvm::TargetTransformInfo& m)
    : nest(n), ranges(loops::value_ranges(n)), machine(m), function(f), lanes(l), b(f->getContext()),
      args(insert_entry_block(b, f), n, f) {}

unsigned Kernel::register_bits() const {
  return static_cast<unsigned>(
      machine.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue());
}

void Kernel::emit_loop(Value* begin, Value* end, uint64_t step, const std::function<void(Value*)>& body) {
  auto& c = b.getContext();
  auto* before = b.GetInsertBlock();
  auto* in = llvm::BasicBlock::Create(c, "loop", function);
  auto* out = llvm::BasicBlock::Create(c, "done", function);
  b.CreateCondBr(b.CreateICmpSLT(begin, end), in, out);
  b.SetInsertPoint(in);
  auto* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  body(i);
  Value* next = b.CreateAdd(i, b.getInt64(step), "", true, true);
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), in, out);
  b.SetInsertPoint(out);
}

void Kernel::emit_branch(Value* condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  auto& c = b.getContext();
  auto* yes = llvm::BasicBlock::Create(c, "then", function);
  auto* no = otherwise ? llvm::BasicBlock::Create(c, "else", function) : nullptr;
  auto* after = llvm::BasicBlock::Create(c, "after", function);
  b.CreateCondBr(condition, yes, no ? no : after);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(after);
  if (no) {
    b.SetInsertPoint(no);
    otherwise();
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
}

Value* Kernel::allocate_variable(llvm::Type* type) {
  auto& entry = function->getEntryBlock();
  Value* at = Builder(&entry, entry.begin()).CreateAlloca(type);
  b.CreateStore(llvm::Constant::getNullValue(type), at);
  return at;
}

Value* Kernel::allocate_vector(llvm::Type* element, Value* first, unsigned n) {
  auto& entry = function->getEntryBlock();
  Value* at = Builder(&entry, entry.begin()).CreateAlloca(vector_of(element, n));
  b.CreateStore(b.CreateVectorSplat(n, first), at);
  return at;
}

Value* Kernel::lane_numbers(unsigned n) {
  llvm::SmallVector<llvm::Constant*, 64> numbers;
  for (unsigned i = 0; i < n; i++) numbers.push_back(b.getInt64(i));
  return llvm::ConstantVector::get(numbers);
}

unsigned choose_lanes(const CpuNest& nest, unsigned machine_bits) {
  const unsigned machine = machine_bits / 32;
  if (loops::has_short_lanes(nest) || nest.blocked) return machine;
  size_t live = nest.exprs.size();
  bool wide = false, functions = false, constants = false, sums = false;
  for (const loops::Expr& e : nest.exprs) {
    wide |= size_of(e.dtype) == 8;
    functions |= e.fn >= Fn::exp && e.fn <= Fn::erf && e.fn != Fn::sqrt;
    constants |= e.fn == Fn::sin || e.fn == Fn::cos || e.fn == Fn::erf;
    sums |= loops::is_reduction(e.fn) && !nest.lane_is_outer();
  }
  if (wide) live *= 2;
  if (live > 48) return machine;
  // If each lane is a row, more lanes read more of a cache line.
  const bool columns = nest.lane_is_outer() && machine_bits >= 512 && !functions && !wide && live <= 24;
  // Reductions and exponentials are dependency chains: four vectors of either are in flight at once, as with few
  // expressions. Functions with more constants than registers reload them for each vector.
  const bool few = !functions && live <= 8, waits = (sums || functions) && !constants && !wide;
  return few || columns || waits ? 4 * machine : 2 * machine;
}

}  // namespace thunder::codegen
