#include "onnx/export/op_types.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace thunder::onnx_export {
namespace {

template <class... D>
constexpr DTypeSet dtype_set(D... types) {
  return (bit(types) | ... | 0u);
}

constexpr DTypeSet kBool = dtype_set(DType::boolean), kF32 = dtype_set(DType::f32), kF64 = dtype_set(DType::f64),
                   kHalf = dtype_set(DType::f16), kBf16 = dtype_set(DType::bf16), kReals = kHalf | kF32 | kF64,
                   kBytes = dtype_set(DType::u8, DType::i8), kU64 = dtype_set(DType::u64), kI32 = dtype_set(DType::i32),
                   kWide = dtype_set(DType::i32, DType::i64),
                   kUnsigned = dtype_set(DType::u8, DType::u16, DType::u32, DType::u64),
                   kSigned = dtype_set(DType::i8, DType::i16, DType::i32, DType::i64), kIntegers = kUnsigned | kSigned,
                   kReduced = kIntegers | kF32 | kF64, kNumbers = kIntegers | kReals,
                   kOrdered = kBytes | kWide | kReals, kAll = kBool | kNumbers | kBf16, kNone = 0;
constexpr uint32_t kEach = ~0u, kFirst = 1, kFirstAndThird = 5, kBehindFirst = 6;
constexpr auto kToBool = ResultType::boolean;
constexpr auto kToI64 = ResultType::i64;

// Sorted by name.
constexpr std::array kRows = {
    OpTypes{"Abs", kNumbers, kEach},
    OpTypes{"Acos", kReals, kEach},
    OpTypes{"Add", kNumbers, kEach},
    OpTypes{"And", kBool, kEach, kToBool},
    OpTypes{"ArgMax", kOrdered, kFirst, kToI64},
    OpTypes{"Asin", kReals, kEach},
    OpTypes{"Atan", kReals, kEach},
    OpTypes{"Attention", kReals, 7, ResultType::same, 23},
    OpTypes{"AveragePool", kReals, kFirst},
    OpTypes{"BatchNormalization", kReals, kEach},
    OpTypes{"BitShift", kUnsigned, kEach},
    OpTypes{"BitwiseAnd", kIntegers, kEach, ResultType::same, 18},
    OpTypes{"BitwiseNot", kIntegers, kEach, ResultType::same, 18},
    OpTypes{"BitwiseOr", kIntegers, kEach, ResultType::same, 18},
    OpTypes{"BitwiseXor", kIntegers, kEach, ResultType::same, 18},
    OpTypes{"Ceil", kReals, kEach},
    OpTypes{"Concat", kAll, kEach},
    OpTypes{"Conv", kReals, kEach},
    OpTypes{"ConvTranspose", kReals, kEach},
    OpTypes{"Cos", kReals, kEach},
    OpTypes{"CumSum", kWide | kReals, kFirst, ResultType::same, 17, true},
    OpTypes{"Det", kReals, kEach},
    OpTypes{"Div", kNumbers, kEach},
    OpTypes{"Elu", kReals, kEach},
    OpTypes{"Equal", kBool | kNumbers, kEach, kToBool},
    OpTypes{"Erf", kReals, kEach},
    OpTypes{"Exp", kReals, kEach},
    OpTypes{"Expand", kBool | kNumbers, kFirst},
    OpTypes{"Floor", kReals, kEach},
    OpTypes{"Gather", kAll, kFirst},
    OpTypes{"GatherElements", kAll, kFirst},
    OpTypes{"GatherND", kAll, kFirst},
    OpTypes{"Gelu", kReals, kEach, ResultType::same, 20},
    OpTypes{"Gemm", kReals, kEach},
    OpTypes{"Greater", kNumbers, kEach, kToBool},
    OpTypes{"GreaterOrEqual", kNumbers, kEach, kToBool},
    OpTypes{"Identity", kAll, kEach},
    OpTypes{"IsNaN", kReals, kEach, kToBool},
    OpTypes{"LayerNormalization", kReals, kEach},
    OpTypes{"LeakyRelu", kReals, kEach},
    OpTypes{"Less", kNumbers, kEach, kToBool},
    OpTypes{"LessOrEqual", kNumbers, kEach, kToBool},
    OpTypes{"Log", kReals, kEach},
    OpTypes{"LogSoftmax", kReals, kEach},
    OpTypes{"MatMul", dtype_set(DType::u32, DType::u64) | kWide | kReals, kEach},
    OpTypes{"Max", kBytes | dtype_set(DType::u32, DType::u64) | kWide | kReals, kEach},
    OpTypes{"MaxPool", kBytes | kReals, kFirst, ResultType::same_and_i64},
    OpTypes{"Min", kBytes | dtype_set(DType::u32, DType::u64) | kWide | kReals, kEach},
    OpTypes{"Mod", kNumbers, kEach},
    OpTypes{"Mul", kNumbers, kEach},
    OpTypes{"Neg", kSigned | kReals, kEach, ResultType::same, 17, true},
    OpTypes{"NonZero", kBool | kWide | kF32, kFirst, kToI64},
    OpTypes{"Not", kBool, kEach, kToBool},
    OpTypes{"Or", kBool, kEach, kToBool},
    OpTypes{"Pad", kBool | kBytes | dtype_set(DType::u32, DType::u64) | kWide | kReals, kFirstAndThird},
    OpTypes{"Pow", kWide | kReals, kEach},
    OpTypes{"RMSNormalization", kReals, kEach, ResultType::same, 23},
    OpTypes{"Range", kWide | kF32 | kF64, kEach},
    OpTypes{"Reciprocal", kReals, kEach},
    OpTypes{"ReduceMax", kOrdered, kFirst},
    OpTypes{"ReduceMean", kReals, kFirst},
    OpTypes{"ReduceMin", kOrdered, kFirst},
    OpTypes{"ReduceProd", kWide | kReals, kFirst, ResultType::same, 17, true},
    OpTypes{"ReduceSum", kWide | kReals, kFirst, ResultType::same, 17, true},
    OpTypes{"Relu", dtype_set(DType::i8) | kWide | kReals, kEach},
    OpTypes{"Reshape", kAll, kFirst},
    OpTypes{"ScatterElements", kAll, kFirstAndThird, ResultType::same, 18, false, kReduced},
    OpTypes{"ScatterND", kAll, kFirstAndThird, ResultType::same, 18, false, kReduced},
    OpTypes{"Shape", kAll, kFirst, kToI64},
    OpTypes{"Sigmoid", kReals, kEach},
    OpTypes{"Sign", kNumbers, kEach},
    OpTypes{"Sin", kReals, kEach},
    OpTypes{"Slice", kAll, kFirst},
    OpTypes{"Softmax", kReals, kEach},
    OpTypes{"Softplus", kReals, kEach},
    OpTypes{"Sqrt", kReals, kEach},
    OpTypes{"Squeeze", kAll, kFirst},
    OpTypes{"Sub", kNumbers, kEach},
    OpTypes{"Tanh", kReals, kEach},
    OpTypes{"TopK", kBytes | dtype_set(DType::i16) | kWide | kReals, kFirst, ResultType::same_and_i64},
    OpTypes{"Transpose", kAll, kFirst},
    OpTypes{"Trilu", kBool | kWide | kReals, kFirst},
    OpTypes{"Unsqueeze", kAll, kFirst},
    OpTypes{"Where", kBytes | dtype_set(DType::u32) | kWide | kReals, kBehindFirst, ResultType::same, 17, true},
    OpTypes{"Xor", kBool, kEach, kToBool},
};
static_assert(std::is_sorted(kRows.begin(), kRows.end(), [](auto& a, auto& b) { return a.op < b.op; }));

// Narrower first.
std::span<const DType> wider_than(DType d) {
  static constexpr std::array kOfBool = {DType::u8, DType::i32, DType::f32},
                              kOfU32 = {DType::i64, DType::i64, DType::f64},
                              kOfByte = {DType::i16, DType::i32, DType::f32},
                              kOfHalf = {DType::f32, DType::f64, DType::f64};
  switch (d) {
    case DType::boolean:
      return kOfBool;
    case DType::u8:
    case DType::i8:
    case DType::u16:
    case DType::i16:
      return kOfByte;
    case DType::u32:
    case DType::i32:
      return kOfU32;
    case DType::bf16:
    case DType::f16:
      return kOfHalf;
    default:
      return {};
  }
}

}  // namespace

const OpTypes& op_types(std::string_view op, int64_t opset) {
  const auto* row = std::lower_bound(kRows.begin(), kRows.end(), op, [](auto& r, auto name) { return r.op < name; });
  if (row == kRows.end() || row->op != op) fail(Code::internal, "ONNX's ", op, " has no row of types");
  if (opset < row->since)
    fail(Code::unimplemented, "it takes ONNX's ", op, ", which opset ", opset,
         " does not have so; opset = ", row->since, " does");
  return *row;
}

std::optional<DType> choose_compute_dtype(const OpTypes& types, DType dtype, bool reduces) {
  const DTypeSet taken = reduces && types.reducing ? types.reducing : types.types;
  if (taken & bit(dtype)) return dtype;
  for (const DType wide : wider_than(dtype))
    if (taken & bit(wide) && (dtype != DType::u16 || wide != DType::i16)) return wide;
  if (dtype == DType::u64 && types.wraps && taken & bit(DType::i64)) return DType::i64;
  return std::nullopt;
}

}  // namespace thunder::onnx_export
