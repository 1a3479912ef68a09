// Every sample in every dtype and without elements: right results, or one clear error in every way of running.
#include "battery/battery.h"

namespace thunder::battery {
namespace {

struct Dtypes : Battery, testing::WithParamInterface<DType> {
  // The op works and is right, or names itself in what it says; compiled it does the same.
  bool check(const Case& c, bool with_oracle) {
    const Tensors tensors = make_tensors(c);
    const Outcome eager = run_eager(*context, c, tensors);
    const size_t n = eager.error.empty() ? eager.types.size() : std::max<size_t>(1, c.op->schema.results.size());
    EXPECT_EQ(disagreement(c, run_compiled(*context, c, tensors, n), eager), "") << c.name << ", compiled";
    if (!eager.error.empty()) {
      EXPECT_TRUE(is_callers_mistake(eager.code) || eager.code == Code::unimplemented) << c.name << ": " << eager.error;
      EXPECT_NE(eager.error.find(c.op->name()), eager.error.npos) << c.name << ": " << eager.error;
    } else if (with_oracle && oracle_of(*c.op)) {
      EXPECT_EQ(difference(eager, oracle_of(*c.op)(oracle_arguments(c, tensors))), "") << c.name;
    }
    return true;
  }
};

TEST_P(Dtypes, work_or_are_refused) {
  each_case("in other dtypes", [&](const Case& c) { return check(in_dtype(c, GetParam()), true); });
}
INSTANTIATE_TEST_SUITE_P(All, Dtypes,
                         testing::Values(DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16,
                                         DType::i8, DType::u64, DType::u32, DType::u16, DType::u8, DType::boolean),
                         [](auto& info) { return std::string(name(info.param)); });

struct Empty : Dtypes {};
TEST_P(Empty, tensors_work_or_are_refused) {
  each_case("without elements", [&](const Case& c) { return check(without_elements(c), false); });
}
INSTANTIATE_TEST_SUITE_P(All, Empty, testing::Values(DType::f32));

}  // namespace
}  // namespace thunder::battery
