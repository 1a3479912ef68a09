// Arguments of every kind, for calls with what does not belong where it is given.
#pragma once

#include "battery/run.h"

namespace thunder::battery {

struct OtherKind {
  const char* name;
  SampleArg arg;
};

inline std::vector<OtherKind> other_kinds() {
  std::vector<OtherKind> out = {{"nothing", {}},
                                {"number", 2},
                                {"huge number", int64_t{3000000}},
                                {"largest number", INT64_MAX},
                                {"negative number", -7},
                                {"float", 1.5},
                                {"huge float", 1e300},
                                {"bool", true},
                                {"string", "mean"},
                                {"list", std::vector<int64_t>{1, 2}},
                                {"empty list", std::vector<int64_t>{}},
                                {"huge list", std::vector<int64_t>{int64_t{1} << 62, 4}},
                                {"dtype", DType::f32},
                                {"tensors", std::vector<TensorSpec>{TensorSpec{{2, 3}}}},
                                {"empty tensor", TensorSpec{{0}}},
                                {"matrix", TensorSpec{{2, 3}}},
                                {"five dims", TensorSpec{{1, 2, 1, 3, 1}}}};
  for (DType d : {DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean}) out.push_back({"0-d tensor", TensorSpec{{}, d, 0, 1}});
  return out;
}

// Arguments of the right kinds, of an op whose row gives no samples.
inline Sample any_sample(const Schema& schema) {
  Sample out;
  for (const Param& p : schema.params) switch (p.kind) {
      case ParamKind::tensor: out.args.push_back(TensorSpec{{2, 3}}); break;
      case ParamKind::tensors: out.args.push_back(std::vector<TensorSpec>{TensorSpec{{2, 3}}}); break;
      case ParamKind::integer: out.args.push_back(1); break;
      case ParamKind::real: out.args.push_back(0.5); break;
      case ParamKind::boolean: out.args.push_back(true); break;
      case ParamKind::string: out.args.push_back("mean"); break;
      case ParamKind::dims: out.args.push_back(std::vector<int64_t>{1}); break;
      case ParamKind::dtype: out.args.push_back(DType::f32); break;
      default: out.args.push_back(SampleArg()); break;
    }
  return out;
}

// The op's samples, or one that stands for them.
inline std::vector<Case> cases_of(const OpDef& op) {
  std::vector<Case> out = accepted_cases(op);
  if (out.empty()) out.push_back({&op, any_sample(op.schema), std::string(op.name()), ""});
  return out;
}

}  // namespace thunder::battery
