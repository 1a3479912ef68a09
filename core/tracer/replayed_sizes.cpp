#include "tracer/replayed_sizes.h"

#include <algorithm>
#include <optional>

#include "ir/dim_reads.h"
#include "ir/symbols.h"

namespace thunder {
namespace {

bool keeps_lines() { return DimReads::current() && DimReads::current()->keeps_lines(); }

std::vector<Dim> numbers_of_symbols(const Trace& trace, std::span<const TensorType* const> types, ReplayCall& call) {
  const std::vector<int64_t> numbers = symbol_values(trace, types, call.integers);
  std::vector<Dim> out(numbers.begin(), numbers.end());
  for (const Symbol& s : used_symbols(trace))
    if (Dim& size = out[static_cast<size_t>(s.number)]; size == Dim(0))
      size = s.hint;  // of what is traced around this
  for (auto [symbol, value] : call.integers) out[static_cast<size_t>(symbol)] = value;
  return out;
}

std::vector<Dim> meaning_of_symbols(const Trace& trace, std::span<const TensorType* const> types, ReplayCall& call) {
  if (!keeps_lines()) return numbers_of_symbols(trace, types, call);
  const DimReads::Pause checks;  // the inputs are compared with the trace at each call
  std::vector<Dim> out = numbers_of_symbols(trace, types, call);
  for (auto [symbol, stands_for] : call.symbols) out[static_cast<size_t>(symbol)] = stands_for;
  for (size_t i = 0; i < types.size(); i++) {
    const TensorType& was = trace.type(trace.inputs[i].value);
    for (size_t k = 0; types[i] && k < was.rank(); k++)
      if (!was.shape[k].constant() && was.shape[k].expr()->op == DimOp::symbol)
        out[static_cast<size_t>(was.shape[k].expr()->a.value())] = types[i]->shape[k];
  }
  return out;
}

}  // namespace

ReplayedSizes::ReplayedSizes(const Trace& trace, std::span<const TensorType* const> types, ReplayCall& call)
    : call_(call), symbols_(meaning_of_symbols(trace, types, call)) {}

Dim ReplayedSizes::operator()(Dim d) {
  if (d.constant()) return d;
  for (const Symbol& s : call_.integers.empty() ? std::vector<Symbol>() : used_symbols(d)) {
    const bool integer =
        std::any_of(call_.integers.begin(), call_.integers.end(), [&](auto& i) { return i.symbol == s.number; });
    if (integer && std::find(call_.read.begin(), call_.read.end(), s.number) == call_.read.end())
      call_.read.push_back(s.number);
  }
  return symbols_(d);
}

}  // namespace thunder
