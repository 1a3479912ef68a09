// The generator: values carry their shape, a bound on their size and the memory they lie in, so that every step fits.
#include "battery/program.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

namespace thunder::battery {
namespace {

// What is known of a value while a program grows.
struct Known {
  Ints shape;
  size_t memory = 0;      // values of one number share memory; bounds are kept by it
  bool writable = false;  // its elements have places of their own
  bool integer = false;
};

class Generator {
 public:
  Generator(uint64_t seed, bool reads) : random_(seed), reads_(reads) {}

  Program make() {
    const DType dtype = chance(4) ? DType::f32 : DType::f64;
    rows_ = between(1, 5), columns_ = between(1, 5);
    input({{rows_, columns_}, dtype});
    input({{columns_}, dtype});
    input({{columns_, rows_}, dtype});
    input({{3, rows_, columns_}, dtype});
    input({{rows_}, DType::i64, 0, static_cast<double>(rows_ - 1)});
    input({{rows_, columns_}, dtype});
    known_.back().writable = true;
    const auto steps = static_cast<size_t>(between(20, 60));
    while (program_.steps.size() < steps) step();
    finish();
    return std::move(program_);
  }

 private:
  using Kind = Operand::Kind;
  static Operand value(size_t v) { return {Kind::value, static_cast<int64_t>(v), 0, {}}; }
  static Operand integer(int64_t i) { return {Kind::integer, i, 0, {}}; }
  static Operand real(double f) { return {Kind::real, 0, f, {}}; }
  static Operand dims(Ints d) { return {Kind::dims, 0, 0, std::move(d)}; }
  static Operand flag(bool b) { return {Kind::flag, b, 0, {}}; }

  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution(low, high)(random_); }
  bool chance(int64_t one_in) { return between(1, one_in) == 1; }
  double& bound(size_t v) { return bounds_[known_[v].memory]; }

  void input(TensorSpec spec) {
    known_.push_back({spec.shape, bounds_.size(), false, is_integer(spec.dtype)});
    bounds_.push_back(2);
    program_.specs.push_back(std::move(spec));
  }
  // A new value in memory of its own, squeezed when it may have grown large.
  size_t add(std::string op, std::vector<Operand> operands, Ints shape, double limit) {
    program_.steps.push_back({std::move(op), std::move(operands)});
    known_.push_back({std::move(shape), bounds_.size(), true, false});
    bounds_.push_back(limit);
    const size_t v = known_.size() - 1;
    return limit > 20 ? add("tanh", {value(v)}, known_[v].shape, 1) : v;
  }
  // A new handle of the same memory.
  size_t add_view(std::string op, std::vector<Operand> operands, Ints shape, size_t of) {
    program_.steps.push_back({std::move(op), std::move(operands)});
    Known k = known_[of];
    k.shape = std::move(shape);
    known_.push_back(k);
    return known_.size() - 1;
  }
  // A real value, of rank at least `rank`, mostly a late one.
  size_t pick(size_t rank = 0) {
    for (int tries = 0; tries < 50; tries++) {
      const auto n = static_cast<int64_t>(known_.size());
      const auto v = static_cast<size_t>(chance(2) ? between(std::max<int64_t>(0, n - 8), n - 1) : between(0, n - 1));
      if (!known_[v].integer && known_[v].shape.size() >= rank) return v;
    }
    return 0;
  }
  int64_t axis(size_t v) { return between(0, static_cast<int64_t>(known_[v].shape.size()) - 1); }

  void step() {
    if (reads_ && chance(6)) return chance(2) ? read() : gradient();
    static constexpr void (Generator::*kKinds[])() = {&Generator::unary, &Generator::unary,  &Generator::binary, &Generator::binary,
                                                      &Generator::reduce, &Generator::shape, &Generator::shape,  &Generator::rows,
                                                      &Generator::matmul, &Generator::join,  &Generator::index,  &Generator::write,
                                                      &Generator::write,  &Generator::number, &Generator::best};
    (this->*kKinds[between(0, std::size(kKinds) - 1)])();
  }

  void unary() {
    const size_t x = pick();
    const double b = bound(x);
    struct Row {
      const char* op;
      double limit;
    };
    const Row rows[] = {{"tanh", 1}, {"sigmoid", 1}, {"sin", 1}, {"cos", 1}, {"erf", 1}, {"relu", b}, {"gelu", b + 1},
                        {"silu", b + 1}, {"neg", b}, {"neg", b}, {"abs", b}, {"square", b * b}, {"clone", b}, {"contiguous", b},
                        {"exp", b < 3 ? std::exp(b) : 1e9}};
    const Row row = rows[between(0, std::size(rows) - 2 + (b < 3))];
    const size_t y = add(row.op, {value(x)}, known_[x].shape, row.limit);
    // It may have been the input itself.
    if (std::string_view(row.op) == "contiguous") known_[y].writable = false;
  }
  void binary() {
    const size_t x = pick();
    size_t y = chance(8) ? x : pick();
    for (int tries = 0; tries < 20 && !fits(known_[x].shape, known_[y].shape); tries++) y = pick();
    if (!fits(known_[x].shape, known_[y].shape)) y = x;
    const double a = bound(x), b = bound(y);
    const Ints shape = broadcast_shape(known_[x].shape, known_[y].shape);
    switch (between(0, 7)) {
      case 0: add("add", {value(x), value(y)}, shape, a + b); break;
      case 1: add("sub", {value(x), value(y)}, shape, a + b); break;
      case 5: add("minimum", {value(x), value(y)}, shape, std::max(a, b)); break;
      case 6: add("sub", {value(x), value(y), real(0.5)}, shape, a + b); break;
      case 2: add("mul", {value(x), value(y)}, shape, a * b); break;
      case 3: add("maximum", {value(x), value(y)}, shape, std::max(a, b)); break;
      case 4: add("div", {value(x), value(add("add", {value(add("square", {value(y)}, known_[y].shape, b * b)), real(1)}, known_[y].shape, 20))},
                  shape, a * 4); break;
      default: {
        const size_t condition = add("lt", {value(x), value(y)}, shape, 1);
        known_[condition].integer = true;
        add("where", {value(condition), value(x), value(y)}, shape, std::max(a, b));
      }
    }
  }
  static bool fits(const Ints& a, const Ints& b) {
    for (size_t d = 1; d <= std::min(a.size(), b.size()); d++) {
      const int64_t m = a[a.size() - d], n = b[b.size() - d];
      if (m != n && m != 1 && n != 1) return false;
    }
    return true;
  }
  // Numbers that algebraic rules look for.
  void number() {
    const size_t x = pick();
    const double numbers[] = {0, 1, -1, 2, 0.5, 3};
    const double n = numbers[between(0, 5)];
    const double b = bound(x);
    if (n != 0 && chance(5)) {
      add("div", {value(x), real(n)}, known_[x].shape, b / std::fabs(n));
      return;
    }
    const char* ops[] = {"add", "sub", "mul", "maximum", "pow"};
    const std::string op = ops[between(0, n >= 1 ? 4 : 3)];
    if (op != "pow" && chance(3)) {
      add(op, {real(n), value(x)}, known_[x].shape, op == "mul" ? b * std::fabs(n) : b + std::fabs(n));
      return;
    }
    add(op, {value(x), real(n)}, known_[x].shape, op == "pow" ? std::pow(b, n) : op == "mul" ? b * std::fabs(n) : b + std::fabs(n));
  }
  void reduce() {
    const size_t x = pick(1);
    const int64_t d = axis(x);
    const bool keep = chance(2);
    const char* ops[] = {"sum", "mean", "amax", "logsumexp", "var"};
    const auto which = between(0, known_[x].shape[static_cast<size_t>(d)] > 1 ? 4 : 3);
    Ints shape = known_[x].shape;
    const double b = bound(x), n = static_cast<double>(shape[static_cast<size_t>(d)]);
    if (keep) shape[static_cast<size_t>(d)] = 1;
    else shape.erase(shape.begin() + d);
    std::vector<Operand> operands = {value(x), dims({d})};
    if (which == 4) operands.push_back(integer(1));
    operands.push_back(flag(keep));
    add(ops[which], operands, shape, which == 0 ? n * b : which == 4 ? 2 * b * b : b + n);
  }
  void shape() {
    const size_t x = pick(1);
    Ints s = known_[x].shape;
    const int64_t d = axis(x), n = s[static_cast<size_t>(d)];
    switch (between(0, 5)) {
      case 0:
        if (reads_ && chance(3)) {  // as a transform hands an argument on
          Ints order(s.size());
          std::iota(order.begin(), order.end(), 0);
          add_view("permute", {value(x), dims(order)}, s, x);
          break;
        }
        std::swap(s[static_cast<size_t>(d)], s.back());
        add_view("transpose", {value(x), integer(d), integer(-1)}, s, x);
        break;
      case 1:
        s.erase(s.begin() + d);
        add_view("select", {value(x), integer(d), integer(between(-n, n - 1))}, s, x);
        break;
      case 2: {
        const int64_t start = between(0, n - 1), step = between(1, 2);
        s[static_cast<size_t>(d)] = (n - start + step - 1) / step;
        add_view("slice", {value(x), integer(d), integer(start), integer(n), integer(step)}, s, x);
        break;
      }
      case 3:
        s.insert(s.begin() + d, 1);
        if (s.size() < 5) add_view("unsqueeze", {value(x), integer(d)}, s, x);
        break;
      case 4: {
        // A copy or a view, as the strides have it.
        const size_t y = add_view("reshape", {value(x), dims({count(s)})}, {count(s)}, x);
        known_[y].writable = known_[x].writable;
        break;
      }
      default:
        if (s.size() > 3) break;
        s.insert(s.begin(), 2);
        known_[add_view("expand", {value(x), dims(s)}, s, x)].writable = false;
    }
  }
  // Along rows: softmax, norms and running sums.
  void rows() {
    const size_t x = pick(1);
    const Ints& s = known_[x].shape;
    switch (between(0, 5)) {
      case 5: {
        const int64_t d = axis(x);
        add("cumsum", {value(x), integer(d)}, s, bound(x) * static_cast<double>(s[static_cast<size_t>(d)]));
        break;
      }
      case 0: add("softmax", {value(x), integer(axis(x))}, s, 1); break;
      case 1: add("log_softmax", {value(x), integer(-1)}, s, 2 * bound(x) + std::log(static_cast<double>(s.back())) + 1); break;
      case 2: add("layer_norm", {value(x), dims({s.back()}), {}, {}, real(0.1)}, s, 10); break;
      case 3: add("rms_norm", {value(x), dims({s.back()}), {}, real(0.1)}, s, 10); break;
      default:
        if (s.size() >= 2) add("tril", {value(x), integer(between(-1, 1))}, s, bound(x));
    }
  }
  void matmul() {
    const size_t x = pick(2);
    const Ints s = known_[x].shape;
    // Its own transpose always fits.
    Ints turned = s;
    std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
    const size_t y = add_view("transpose", {value(x), integer(-1), integer(-2)}, turned, x);
    Ints out = s;
    out.back() = s[s.size() - 2];
    add("matmul", {value(x), value(y)}, out, static_cast<double>(s.back()) * bound(x) * bound(x));
  }
  void join() {
    const size_t x = pick(1);
    Ints s = known_[x].shape;
    if (s.back() > 1 && chance(2)) return turn_round(x);
    if (count(s) < 100 && chance(4)) {
      const int64_t low = between(0, 2), high = between(0, 2);
      s.back() += low + high;
      add("pad", {value(x), dims({low, high})}, s, bound(x));
      return;
    }
    const size_t y = add("sin", {value(x)}, known_[x].shape, 1);
    if (chance(2)) {
      const int64_t d = axis(x);
      s[static_cast<size_t>(d)] *= 2;
      if (count(s) < 200) add("cat", {{Kind::list, 0, 0, {static_cast<int64_t>(x), static_cast<int64_t>(y)}}, integer(d)}, s, std::max(1.0, bound(x)));
    } else if (chance(2)) {
      // Parts that differ in size.
      const int64_t d = axis(x), n = s[static_cast<size_t>(d)];
      Ints part = s;
      part[static_cast<size_t>(d)] = between(1, n);
      const size_t z = add_view("slice", {value(y), integer(d), integer(0), integer(part[static_cast<size_t>(d)]), integer(1)}, part, y);
      s[static_cast<size_t>(d)] += part[static_cast<size_t>(d)];
      if (count(s) < 200) add("cat", {{Kind::list, 0, 0, {static_cast<int64_t>(z), static_cast<int64_t>(x)}}, integer(d)}, s, std::max(1.0, bound(x)));
    } else if (s.size() < 4 && count(s) < 100) {
      s.insert(s.begin(), 2);
      add("stack", {{Kind::list, 0, 0, {static_cast<int64_t>(x), static_cast<int64_t>(y)}}, integer(0)}, s, std::max(1.0, bound(x)));
    }
  }
  // Parts of rows turned round, as positions are rotated into queries.
  void turn_round(size_t x) {
    Ints s = known_[x].shape;
    const int64_t n = s.back(), middle = chance(2) ? n / 2 : between(1, n - 1);
    s.back() = middle;
    const size_t low = add_view("slice", {value(x), integer(-1), integer(0), integer(middle), integer(1)}, s, x);
    s.back() = n - middle;
    const size_t high = add_view("slice", {value(x), integer(-1), integer(middle), integer(n), integer(1)}, s, x);
    const size_t negated = add("neg", {value(high)}, s, bound(x));
    s.back() = n;
    add("cat", {{Kind::list, 0, 0, {static_cast<int64_t>(negated), static_cast<int64_t>(low)}}, integer(-1)}, s, bound(x));
  }
  // One input holds indices below rows_.
  void index() {
    constexpr size_t indices = 4;
    const size_t x = pick(1);
    const Ints s = known_[x].shape;
    if (s[0] != rows_) return;
    if (chance(2)) add("index_select", {value(x), integer(0), value(indices)}, s, bound(x));
    else add("index_put", {value(x), {Kind::list, 0, 0, {static_cast<int64_t>(indices)}}, real(0.25), flag(true)}, s, bound(x) + 2);
  }
  // The greatest of each row, by its place.
  void best() {
    const size_t x = pick(1);
    const int64_t d = axis(x);
    Ints s = known_[x].shape;
    s.erase(s.begin() + d);
    const size_t at = add("argmax", {value(x), integer(d)}, s, 1);
    known_[at].integer = true;
    s.insert(s.begin() + d, 1);
    const size_t places = add_view("unsqueeze", {value(at), integer(d)}, s, at);
    add("gather", {value(x), integer(d), value(places)}, s, bound(x));
  }
  void read() {
    const size_t x = pick();
    add_view(std::string(kRead), {value(x)}, known_[x].shape, x);
  }
  // Mostly by what is not written, which a gradient is refused for where that was after its use.
  void gradient() {
    const size_t x = pick();
    const size_t loss = add("mean", {value(add("sin", {value(x)}, known_[x].shape, 1))}, {}, 1);
    size_t by = pick();
    for (int tries = 0; tries < 20 && (written_.count(known_[by].memory) || by >= x); tries++) by = pick();
    if (written_.count(known_[by].memory) && !chance(8)) return;
    add(std::string(kGradient), {value(loss), value(by)}, known_[by].shape, 100);
  }
  // In place, through a handle or a view of it.
  void write() {
    size_t x = pick();
    for (int tries = 0; tries < 30 && !known_[x].writable; tries++) x = pick();
    if (!known_[x].writable) return;
    const size_t y = chance(2) ? x : pick();
    const bool broadcasts = fits(known_[x].shape, known_[y].shape) && broadcast_shape(known_[x].shape, known_[y].shape) == known_[x].shape;
    if (bound(x) > 8) return;
    const char* ops[] = {"add", "mul", "copy"};
    const char* unary[] = {"tanh", "sigmoid", "zero", "relu"};
    if (broadcasts && chance(2)) {
      const std::string op = ops[between(0, 2)];
      write_step(op + "_", {value(x), value(y)}, x, op == "add" ? bound(x) + bound(y) : op == "mul" ? bound(x) * bound(y) : bound(y));
    } else if (chance(3)) {
      write_step("fill_", {value(x), real(0.5)}, x, 0.5);
    } else {
      write_step(std::string(unary[between(0, 3)]) + "_", {value(x)}, x, std::max(1.0, bound(x)));
    }
  }
  void write_step(std::string op, std::vector<Operand> operands, size_t x, double limit) {
    add_view(std::move(op), std::move(operands), known_[x].shape, x);
    written_.insert(known_[x].memory);
    bound(x) = std::max(bound(x), limit);
  }

  // A loss of several late values, so that most of the program matters.
  void finish() {
    size_t loss = add("mean", {value(0)}, {}, 2);
    for (int i = 0; i < 6; i++) {
      const size_t x = pick();
      program_.watched.push_back(x);
      const size_t part = add("mean", {value(add("sin", {value(x)}, known_[x].shape, 1))}, {}, 1);
      loss = add("add", {value(loss), value(part)}, {}, 8);
    }
  }

  std::mt19937_64 random_;
  const bool reads_;
  std::set<size_t> written_;  // memories
  Program program_;
  std::vector<Known> known_;
  std::vector<double> bounds_;
  int64_t rows_ = 1, columns_ = 1;
};

}  // namespace

Program random_program(uint64_t seed) { return Generator(seed, false).make(); }
Program random_program_that_reads(uint64_t seed) { return Generator(seed, true).make(); }

}  // namespace thunder::battery
