#include "executors/fusion/space.h"

namespace thunder::fusion {

AxisId Space::add_axes(const Size& extent) {
  axes_.push_back({extent, {}});
  return static_cast<AxisId>(axes_.size() - 1);
}

Coordinates Space::add_axes(std::span<const Dim> shape) {
  Coordinates c;
  for (Dim d : shape) {
    c.emplace_back();
    if (Size(d) != 1) c.back().push_back(add_axes(d));
  }
  return c;
}

// The recursion is as deep as splits are nested. It ends since an axis is replaced by newer axes or by one that is
// never replaced.
void Space::append_resolved(Dimension& out, AxisId a) const {
  if (axes_[a].replacement.empty()) return out.push_back(a);
  for (AxisId next : axes_[a].replacement) append_resolved(out, next);
}

Dimension Space::resolve(const Dimension& d) const {
  Dimension out;
  for (AxisId a : d) append_resolved(out, a);
  return out;
}

Coordinates Space::resolve(const Coordinates& c) const {
  Coordinates out;
  for (const Dimension& d : c) out.push_back(resolve(d));
  return out;
}

Dimension Space::flatten(const Coordinates& c) const {
  Dimension out;
  for (const Dimension& d : c)
    for (AxisId a : d) append_resolved(out, a);
  return out;
}

std::pair<AxisId, AxisId> Space::split(AxisId a, const Size& inner) {
  const AxisId high = add_axes(axes_[a].extent / inner), low = add_axes(inner);
  axes_[a].replacement = {high, low};
  return {high, low};
}

bool Space::unify(const Dimension& a, const Dimension& b) {
  Dimension left = resolve(a), right = resolve(b);
  while (!left.empty() && !right.empty()) {
    const AxisId l = left.back(), r = right.back();
    const Size el = extent(l), er = extent(r);
    left.pop_back(), right.pop_back();
    if (l == r) continue;
    if (el == er) {
      axes_[r].replacement = {l};
      // The axis may occur again among the outer ones.
      left = resolve(left), right = resolve(right);
      continue;
    }
    if (el == 0 || er == 0 || std::max(el, er) % std::min(el, er) != 0) return false;
    if (el > er) {
      auto [high, low] = split(l, er);
      left.push_back(high), left.push_back(low), right.push_back(r);
    } else {
      auto [high, low] = split(r, el);
      right.push_back(high), right.push_back(low), left.push_back(l);
    }
    left = resolve(left), right = resolve(right);
  }
  return left.empty() && right.empty();
}

bool Space::unify(const Coordinates& a, const Coordinates& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++)
    if (!unify(a[i], b[i])) return false;
  return true;
}

std::optional<Coordinates> Space::reshape(const Coordinates& from, std::span<const Dim> to) {
  Dimension axes = flatten(from);
  Coordinates out(to.size());
  // From the innermost dim on: each new dim takes axes until it is full, and splits the last one if it must.
  for (size_t i = to.size(); i-- > 0;) {
    Size left = to[i];
    Dimension reversed;
    while (left > 1) {
      if (axes.empty()) return std::nullopt;
      const AxisId a = axes.back();
      axes.pop_back();
      const Size e = extent(a);
      if (e == 0) return std::nullopt;
      if (left % e == 0) {
        reversed.push_back(a);
        left /= e;
      } else if (e % left == 0) {
        auto [high, low] = split(a, left);
        axes.push_back(high);
        reversed.push_back(low);
        left = 1;
      } else {
        return std::nullopt;
      }
    }
    if (left == 0) return std::nullopt;
    out[i] = Dimension(std::reverse_iterator(reversed.end()), std::reverse_iterator(reversed.begin()));
  }
  if (!axes.empty()) return std::nullopt;
  return out;
}

}  // namespace thunder::fusion
