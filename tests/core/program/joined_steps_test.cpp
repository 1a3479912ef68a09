// Which steps become one launch, on plans written by hand: each step reads 64 bytes of the arena and writes 64 bytes.
#include "program/joined_steps.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

struct JoinedStepsTest : testing::Test {
  JoinedStepsTest() { plan.layouts = {16, 1}; }  // sizes, then strides

  BufferPlan at(int64_t offset) {
    BufferPlan b;
    b.place = Place::arena, b.offset = offset, b.dtype = DType::f32, b.rank = 1;
    return b;
  }
  Step& add(int64_t reads, int64_t writes, bool joinable = true) {
    Step step;
    step.first = static_cast<uint32_t>(plan.buffers.size()), step.n_inputs = 1, step.n_outputs = 1;
    plan.buffers.push_back(at(reads)), plan.buffers.push_back(at(writes));
    plan.steps.push_back(std::move(step));
    kinds.push_back(joinable ? Joinable{"kernel", 64} : Joinable());
    return plan.steps.back();
  }
  std::vector<JoinedSteps> joined() { return joined_steps(plan, kinds); }

  Plan plan;
  std::vector<Joinable> kinds;
};

TEST_F(JoinedStepsTest, run_one_kernel_on_different_memory) {
  for (int64_t i = 0; i < 5; i++) add(64 * i, 1024 + 64 * i);
  EXPECT_EQ(joined(), (std::vector<JoinedSteps>{{0, 1, 2, 3, 4}}));
}

TEST_F(JoinedStepsTest, do_not_read_what_another_one_writes) {
  for (int64_t i = 0; i < 4; i++) add(64 * i, 1024 + 64 * i);
  add(1024, 4096);
  EXPECT_EQ(joined(), (std::vector<JoinedSteps>{{0, 1, 2, 3}}));
}

TEST_F(JoinedStepsTest, move_behind_steps_that_touch_none_of_their_memory) {
  for (int64_t i = 0; i < 5; i++) {
    add(64 * i, 1024 + 64 * i);
    if (i == 1) add(8192, 8256, false);
  }
  EXPECT_EQ(joined(), (std::vector<JoinedSteps>{{0, 1, 3, 4, 5}}));
}

// The first step was the last one to read its input, whose memory a library then takes for its own use.
TEST_F(JoinedStepsTest, do_not_move_behind_scratch_memory_that_lies_where_they_read) {
  for (int64_t i = 0; i < 5; i++) {
    add(64 * i, 1024 + 64 * i);
    if (i > 0) continue;
    Step& library = add(8192, 8256, false);
    library.scratch = 0, library.scratch_bytes = 32;
  }
  EXPECT_EQ(joined(), (std::vector<JoinedSteps>{{2, 3, 4, 5}}));
}

}  // namespace
}  // namespace thunder
