// The MPI library: how it is found, and the handles of each interface. tests/scale runs programs on it.
// covers: core/scale/mpi/mpi.cpp
#include "scale/mpi/abi.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/status.h"

namespace thunder::scale::mpi {
namespace {

TEST(MpiLibrary, one_that_is_not_there_is_an_error_with_every_name) {
  ::setenv("THUNDER_MPI", "/nowhere/libmpi.so", 1);
  try {
    open_library("Open MPI");
    ADD_FAILURE() << "it was opened";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::not_found);
    EXPECT_NE(e.message().find("/nowhere/libmpi.so"), std::string::npos);
  }
  ::unsetenv("THUNDER_MPI");
}

TEST(MpiLibrary, every_number_but_16_bit_floats_has_a_datatype) {
  Constants constants{};
  constants.i8 = 1, constants.u8 = 2, constants.i16 = 3, constants.u16 = 4, constants.i32 = 5, constants.u32 = 6;
  constants.i64 = 7, constants.u64 = 8, constants.f32 = 9, constants.f64 = 10;
  for (const DTypeInfo& row : all_dtypes()) EXPECT_EQ(constants.dtype(row.dtype) == 0, is_half(row.dtype)) << row.name;
  EXPECT_EQ(constants.dtype(DType::boolean), constants.u8);
  constants.sum = 21, constants.max = 22, constants.min = 23;
  EXPECT_EQ(constants.reduction(RankReduction::max), 22u);
}

}  // namespace
}  // namespace thunder::scale::mpi
