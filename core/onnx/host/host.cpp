#include "onnx/host/host.h"

#include <algorithm>

#include "ir/dim_reads.h"
#include "ir/elements.h"
#include "tracer/tracing.h"

namespace thunder::onnx {
namespace {

// Whether a size is symbolic.
bool is_size(Node& n, Dim d) {
  auto* tracing = dynamic_cast<TracingScope*>(&n.scope);
  return tracing && tracing->is_size(d);
}

}  // namespace

bool all_known(Node& n, size_t least) {
  for (size_t i = 0; i < std::max(n.inputs(), least); i++)
    if (!n.known(i)) return false;
  return true;
}

int64_t host_elements(const Sizes& shape) {
  int64_t count = 1;
  for (int64_t d : shape) {
    if (d == 0) return 0;
    if (d > kMostHostElements / count) return -1;
    count *= d;
  }
  return count;
}

HostRef gather_elements(const Host& from, const Sizes& shape, std::span<const int64_t> places) {
  auto h = std::make_shared<Host>();
  h->dtype = from.dtype, h->shape = shape;
  for (int64_t at : places) {
    require(at >= 0 && at < static_cast<int64_t>(from.size()), "element ", at, " is read of ", from.size());
    if (from.holds_reals())
      h->reals.push_back(from.reals[static_cast<size_t>(at)]);
    else
      h->ints.push_back(from.ints[static_cast<size_t>(at)]);
  }
  return h;
}

// The values of a list, if all are known; false if it has formulas, or is no list.
bool known_list(const Host* h, std::vector<int64_t>& out) {
  if (!h || h->holds_reals() || !h->constant() || h->shape.size() > 1) return false;
  for (Dim d : h->ints) out.push_back(d.value());
  return true;
}

Dim wrap_to_dtype(Dim value, DType dtype) {
  if (!value.constant()) return value;
  return by_element(dtype, [&](auto zero) -> int64_t {
    return static_cast<int64_t>(static_cast<Compute<decltype(zero)>>(converted<decltype(zero)>(value.value())));
  });
}

double round_to_dtype(double value, DType dtype) {
  return by_element(dtype, [&](auto zero) {
    const auto element = converted<decltype(zero)>(value);
    return as_double(&element);
  });
}

bool decide_equal(Node& n, Dim a, Dim b) {
  if (a == b) return true;
  if (b.constant() && is_size(n, a) && b.value() < 2) return false;
  if (a.constant() && is_size(n, b) && a.value() < 2) return false;
  return compare(a, DimCondition::Is::equal, b);
}

bool decide_less(Node& n, Dim a, Dim b) {
  if (a == b) return false;
  if (b.constant() && is_size(n, a) && b.value() <= 2) return false;
  if (a.constant() && is_size(n, b) && a.value() < 2) return true;
  return compare(a, DimCondition::Is::less, b);
}

bool decide_at_most(Node& n, Dim a, Dim b) {
  return !decide_less(n, b, a);
}

}  // namespace thunder::onnx
