#include "ops/samples.h"

namespace thunder {

TensorSpec integers(std::vector<int64_t> shape, double low, double high) {
  return {std::move(shape), DType::i64, low, high};
}
TensorSpec indices_below(std::vector<int64_t> shape, int size, DType dtype) {
  return {std::move(shape), dtype, 0, size - 1.0};
}

SampleArg::SampleArg() = default;
SampleArg::SampleArg(TensorSpec t) : value(std::move(t)) {}
SampleArg::SampleArg(std::vector<TensorSpec> t) : value(std::move(t)) {}
SampleArg::SampleArg(bool b) : value(b) {}
SampleArg::SampleArg(int i) : value(static_cast<int64_t>(i)) {}
SampleArg::SampleArg(int64_t i) : value(i) {}
SampleArg::SampleArg(double f) : value(f) {}
SampleArg::SampleArg(const char* s) : value(std::string(s)) {}
SampleArg::SampleArg(std::vector<int64_t> d) : value(std::move(d)) {}
SampleArg::SampleArg(DType d) : value(d) {}
SampleArg::SampleArg(const SampleArg&) = default;
SampleArg::SampleArg(SampleArg&&) noexcept = default;
SampleArg& SampleArg::operator=(const SampleArg&) = default;
SampleArg& SampleArg::operator=(SampleArg&&) noexcept = default;
SampleArg::~SampleArg() = default;

Samples::Samples() = default;
Samples::~Samples() = default;
void Samples::add(std::initializer_list<SampleArg> args) { all.push_back({args, true, false}); }
void Samples::add_without_gradient(std::initializer_list<SampleArg> args) { all.push_back({args, false, false}); }
void Samples::add_eager(std::initializer_list<SampleArg> args) { all.push_back({args, true, true}); }
void Samples::refuse(std::initializer_list<SampleArg> args, std::string_view word) {
  refused.push_back({{args, false}, std::string(word)});
}

}  // namespace thunder
