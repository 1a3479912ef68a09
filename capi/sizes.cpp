// thunder_mark_*: sizes that vary, and what programs are guarded by.
#include "capi/compiled.h"
#include "capi/tensor.h"
#include "ir/dim_reads.h"
#include "jit/context/marks.h"
#include "tracer/tracing.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

Status* mark_size(const char* function, thunder_context* context, thunder_tensor* tensor, int32_t dim, SizeMark mark) {
  return guarded(function, [&] {
    need(context, "context"), need(tensor, "tensor");
    core(context)->size_marks().mark(Ref<Tensor>(core(tensor)), dim, mark);
  });
}

// A scope that does not trace has plain sizes only.
Dim dim_of(Scope& scope, int64_t given) {
  auto* tracing = dynamic_cast<TracingScope*>(&scope);
  return tracing ? tracing->dim_of(given) : Dim(given);
}
int64_t size_to_word(Scope& scope, Dim size) {
  auto* tracing = dynamic_cast<TracingScope*>(&scope);
  return tracing ? tracing->word(size) : hint(size);
}

}  // namespace

extern "C" {

thunder_status* thunder_mark_dynamic(thunder_context* context, thunder_tensor* tensor, int32_t dim, int64_t min,
                                     int64_t max) noexcept {
  return given(mark_size(__func__, context, tensor, dim, {SizeMark::Kind::varies, min, max}));
}

thunder_status* thunder_maybe_mark_dynamic(thunder_context* context, thunder_tensor* tensor, int32_t dim) noexcept {
  return given(mark_size(__func__, context, tensor, dim, {SizeMark::Kind::may_vary, 0}));
}

thunder_status* thunder_mark_static(thunder_context* context, thunder_tensor* tensor, int32_t dim) noexcept {
  return given(mark_size(__func__, context, tensor, dim, {SizeMark::Kind::fixed}));
}

thunder_dim thunder_tensor_dim(thunder_scope* scope, const thunder_tensor* tensor, int32_t axis) noexcept {
  return value_in<int64_t>(core(scope), __func__, -1, [&]() -> int64_t {
    need(tensor, "tensor");
    const Shape& shape = core(tensor)->type().shape;
    const auto rank = static_cast<int64_t>(shape.size()), at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) return -1;
    const Dim size = shape[static_cast<size_t>(at)];
    auto* tracing = dynamic_cast<TracingScope*>(core(scope));
    return tracing && core(tensor)->owner() == static_cast<const Scope*>(tracing) ? tracing->word(size) : hint(size);
  });
}

int32_t thunder_dim_is_symbolic(thunder_dim dim) noexcept {
  return dim < TracingScope::kWordsEnd;
}

thunder_dim thunder_dim_make(thunder_scope* scope, char operation, thunder_dim a, thunder_dim b) noexcept {
  return value_in<int64_t>(core(scope), __func__, 0, [&]() -> int64_t {
    const Dim x = dim_of(*core(scope), a), y = dim_of(*core(scope), b);
    // A symbolic divisor is assumed to be positive, and the program is guarded by that.
    if ((operation == '/' || operation == '%') && !y.constant() && unnoted_hint(y) > 0)
      compare(0, DimCondition::Is::less, y);
    switch (operation) {
      case '+':
        return size_to_word(*core(scope), x + y);
      case '-':
        return size_to_word(*core(scope), x - y);
      case '*':
        return size_to_word(*core(scope), x * y);
      case '/':
        return size_to_word(*core(scope), x / y);
      case '%':
        return size_to_word(*core(scope), x % y);
      default:
        throw Refusal{Code::invalid_argument,
                      cat("operation must be '+', '-', '*', '/' or '%', got ", static_cast<int>(operation))};
    }
  });
}

int32_t thunder_dim_compare(thunder_scope* scope, thunder_dim a, const char* comparison, thunder_dim b) noexcept {
  return value_in(core(scope), __func__, 0, [&]() -> int {
    need(comparison, "comparison");
    const Dim x = dim_of(*core(scope), a), y = dim_of(*core(scope), b);
    const std::string_view is = comparison;
    if (is == "==") return compare(x, DimCondition::Is::equal, y);
    if (is == "!=") return !compare(x, DimCondition::Is::equal, y);
    if (is == "<") return compare(x, DimCondition::Is::less, y);
    if (is == "<=") return compare(x, DimCondition::Is::at_most, y);
    if (is == ">") return compare(y, DimCondition::Is::less, x);
    if (is == ">=") return compare(y, DimCondition::Is::at_most, x);
    throw Refusal{Code::invalid_argument, cat("comparison must be ==, !=, <, <=, > or >=, got ", is)};
  });
}

int64_t thunder_dim_value(thunder_scope* scope, thunder_dim dim) noexcept {
  return value_in<int64_t>(core(scope), __func__, 0, [&]() -> int64_t { return hint(dim_of(*core(scope), dim)); });
}

const char* thunder_compiled_guards_report(thunder_compiled* compiled) noexcept {
  return report_of(compiled, &CompiledHandle::guards_text, "guards");
}

}  // extern "C"
