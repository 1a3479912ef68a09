// Plain numbers across the boundary: each kind keeps all its bits.
#include <gtest/gtest.h>
#include <thunder.h>
#include <thunder/ops.h>

namespace {

struct Numbers : testing::Test {
  thunder_context* context = nullptr;
  thunder_scope* scope = nullptr;
  Numbers() {
    EXPECT_EQ(thunder_context_create(nullptr, &context), nullptr);
    EXPECT_EQ(thunder_scope_create(context, 0, &scope), nullptr);
  }
  ~Numbers() override {
    thunder_scope_release(scope);
    thunder_context_release(context);
  }
  template <class T>
  thunder_tensor* one(thunder_dtype dtype, T value) {
    thunder_tensor* t = nullptr;
    EXPECT_EQ(thunder_tensor_create(context, dtype, 0, nullptr, 0, &value, sizeof value, &t), nullptr);
    thunder_tensor* mine = th_clone(scope, t);
    thunder_tensor_release(t);
    return mine;
  }
  template <class T>
  T read(thunder_tensor* t) {
    T value{};
    thunder_status* failed = thunder_tensor_read(t, &value, sizeof value);
    EXPECT_EQ(failed, nullptr) << thunder_status_message(failed);
    thunder_status_release(failed);
    return value;
  }
};

TEST_F(Numbers, that_are_integers_keep_64_bits) {
  constexpr int64_t kBig = (int64_t{1} << 53) + 1;
  EXPECT_EQ(read<int64_t>(th_add(scope, one<int64_t>(THUNDER_I64, 1), th_i64(scope, kBig))), kBig + 1);
  EXPECT_EQ(read<int64_t>(th_mul(scope, one<int64_t>(THUNDER_I64, 1), th_u64(scope, kBig))), kBig);
}

TEST_F(Numbers, without_a_sign_keep_64_bits) {
  constexpr uint64_t kBig = 0xfedcba9876543211;
  EXPECT_EQ(read<uint64_t>(th_add(scope, one<uint64_t>(THUNDER_U64, 1), th_u64(scope, kBig))), kBig + 1);
  EXPECT_EQ(read<uint64_t>(th_fill_(scope, one<uint64_t>(THUNDER_U64, 1), th_u64(scope, kBig))), kBig);
  const thunder_any args[] = {thunder_any_tensor(one<uint64_t>(THUNDER_U64, 3)), thunder_any_u64(kBig)};
  EXPECT_EQ(read<uint64_t>(thunder_op_invoke(scope, "maximum", args, 2, nullptr, nullptr, 0, "here")), kBig);
  EXPECT_EQ(thunder_tensor_dtype(th_mul(scope, one<float>(THUNDER_F32, 1), th_u64(scope, kBig))), THUNDER_F32);
}

TEST_F(Numbers, that_are_floats_keep_their_bits_in_f64) {
  EXPECT_EQ(read<double>(th_fill_(scope, one<double>(THUNDER_F64, 0), th_f64(scope, 0.1))), 0.1);
  EXPECT_EQ(read<double>(th_masked_fill(scope, one<double>(THUNDER_F64, 0), th_eq(scope, one<double>(THUNDER_F64, 0), th_f64(scope, 0)), th_f64(scope, 1e300))), 1e300);
}

}  // namespace
