#include "jit/programs/compiled_programs.h"

#include "jit/programs/signature.h"
#include "loops/cpu/launcher.h"

namespace thunder {

std::vector<SavedProgram> saved_programs(const Compiled& compiled) {
  if (auto* saved = dynamic_cast<const SavedFunction*>(&compiled.function())) return saved->programs();
  const auto lock = compiled.misses().wait_for_compile();
  const CompiledState& state = compiled.state();
  std::vector<SavedProgram> out;
  // Programs compiled from a trace with symbols are reported there.
  for (const Entry* e : state.programs.entries())
    if (guards_hold(*e, nullptr) && !e->of) out.push_back(saved_program(*e, state.context));
  if (state.dynamic)
    for (SavedProgram& p : state.dynamic->saved()) out.push_back(std::move(p));
  for (SavedProgram& p : out) name_symbols(compiled.function(), p);
  return out;
}

std::vector<std::string> kernel_texts(const Compiled& compiled) {
  const auto lock = compiled.misses().wait_for_compile();
  std::vector<std::string> out;
  compiled.state().programs.for_each([&out](const Entry& e) {
    for (const std::vector<Step>* steps : {&e.program->plan().steps, &e.program->plan().epilogues})
      for (const Step& step : *steps)
        if (auto* kernel = step.kernel ? dynamic_cast<const loops::CpuLauncher*>(step.kernel->launcher()) : nullptr)
          out.push_back(print(kernel->nest()));
  });
  return out;
}

}  // namespace thunder
