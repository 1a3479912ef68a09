// Tests of an executor that is written for each set of instructions: it is in the context as "tested".
#pragma once

#include "executors/cpu/isa/kernels.h"
#include "support/functions.h"
#include "support/machines.h"

namespace thunder::test {

template <std::optional<ExecutorDesc> (*kExecutor)(const Machine&)>
struct OnInstructions : CompiledTest, testing::WithParamInterface<Instructions> {
  void SetUp() override {
    if (this_machine().instructions < GetParam()) GTEST_SKIP() << "the processor has no such vectors";
    ExecutorDesc d = *kExecutor(limited_to(GetParam()));
    d.name = "tested";
    context->add_executor(make<Executor>(std::move(d)));
  }
};

inline auto every_set_of_instructions() { return testing::Values(Instructions::neon, Instructions::avx2, Instructions::avx512); }
inline std::string name_of_instructions(const testing::TestParamInfo<Instructions>& info) { return kernels_for(info.param)->name; }

}  // namespace thunder::test
