// What is read of the machine at hand: facts that hold on any.
#include "base/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>

#include "base/cpu_count.h"

namespace thunder {
namespace {

TEST(Machine, has_the_sizes_that_the_system_reports) {
  const Machine m = read_machine();
  EXPECT_EQ(m.page, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(m.threads, thread_count());
  EXPECT_TRUE(std::has_single_bit(m.line));
  EXPECT_GE(m.l1, size_t{32} << 10) << "no processor that we know has less";
  EXPECT_GE(m.conflict_stride, m.line);
  EXPECT_LE(m.conflict_stride, m.l1);
#ifdef _SC_LEVEL3_CACHE_SIZE
  if (const long l3 = ::sysconf(_SC_LEVEL3_CACHE_SIZE); l3 > 0) EXPECT_LE(m.last_level, static_cast<size_t>(l3)) << "our share of it";
#endif
}

TEST(Machine, has_vectors_as_wide_as_its_instructions) {
  const Machine m = read_machine();
  const size_t bytes[] = {16, 16, 32, 64}, registers[] = {16, 32, 16, 32};
  EXPECT_EQ(m.vector_bytes, bytes[static_cast<size_t>(m.instructions)]) << name(m.instructions);
  EXPECT_EQ(m.vector_registers, registers[static_cast<size_t>(m.instructions)]) << name(m.instructions);
  if (m.instructions != Instructions::avx512) EXPECT_FALSE(m.bf16_dot_products || m.tile_registers);
}

TEST(Machine, has_the_threads_that_it_was_told_of) {
  ASSERT_EQ(::setenv("THUNDER_NUM_THREADS", "7", 1), 0);
  EXPECT_EQ(read_machine().threads, 7u);
  ::unsetenv("THUNDER_NUM_THREADS");
}

}  // namespace
}  // namespace thunder
