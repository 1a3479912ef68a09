#include "executors/cuda/kernels/formula.h"

#include <algorithm>
#include <charconv>

#include "base/checked.h"
#include "executors/cuda/kernels/operands.h"

namespace thunder::kernels {

// Recursive descent over sums of products of factors.
class FormulaParser {
 public:
  FormulaParser(Formula& out, const Schema& schema) : out_(out), schema_(schema), text_(out.text_) {}

  void parse() {
    parse_sum(0);
    skip_spaces();
    if (at_ != text_.size()) fail_at("an operator was expected");
  }

 private:
  using Do = Formula::Operation;
  static constexpr int kMaxNesting = 64;

  [[noreturn]] void fail_at(std::string_view why) const {
    fail(Code::invalid_argument, out_.what_, " \"", text_, "\", position ", at_ + 1, ": ", why);
  }

  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }
  bool accept(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    return at_++, true;
  }
  void expect(char c) {
    if (!accept(c)) fail_at(cat("'", c, "' was expected"));
  }
  void emit(Do code, Operand operand = {}) { out_.steps_.push_back({code, 0, operand}); }

  void parse_sum(int depth) {
    if (depth > kMaxNesting) fail_at("it is nested too deeply");
    parse_product(depth);
    for (;;) {
      const bool plus = accept('+');
      if (!plus && !accept('-')) return;
      parse_product(depth);
      emit(plus ? Do::add : Do::sub);
    }
  }

  void parse_product(int depth) {
    parse_factor(depth);
    for (;;) {
      const Do code = accept('*') ? Do::mul : accept('/') ? Do::div : accept('%') ? Do::mod : Do::integer;
      if (code == Do::integer) return;
      parse_factor(depth);
      emit(code);
    }
  }

  void parse_factor(int depth) {
    if (depth > kMaxNesting) fail_at("it is nested too deeply");
    if (accept('-')) return parse_factor(depth + 1), emit(Do::negate);
    if (accept('(')) return parse_sum(depth + 1), expect(')');
    skip_spaces();
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') return parse_number();
    const std::string_view word = parse_name();
    if (accept('(')) return parse_function(word, depth);
    const std::optional<Operand> operand = find_operand(schema_, word);
    if (!operand) fail_at(cat("there is no argument '", word, "'; the schema is ", schema_.text));
    if (operand->is_tensor()) return parse_property(*operand, word, depth);
    if (operand->kind != Operand::Kind::integer) fail_at(cat("'", word, "' is no integer"));
    emit(Do::argument, *operand);
  }

  void parse_number() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail_at("the number does not fit in 64 bits");
    at_ = static_cast<size_t>(end - text_.data());
    out_.steps_.push_back({Do::integer, value, {}});
  }

  std::string_view parse_name() {
    skip_spaces();
    const size_t first = at_;
    const auto letter = [](char c) {
      return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || (c >= '0' && c <= '9');
    };
    while (at_ < text_.size() && letter(text_[at_])) at_++;
    if (at_ == first) fail_at("a number or a name was expected");
    return std::string_view(text_).substr(first, at_ - first);
  }

  void parse_function(std::string_view word, int depth) {
    const Do code = word == "ceildiv" ? Do::ceildiv : word == "min" ? Do::min : word == "max" ? Do::max : Do::integer;
    if (code == Do::integer) fail_at(cat("there is no function '", word, "'; there are ceildiv, min and max"));
    parse_sum(depth + 1), expect(','), parse_sum(depth + 1), expect(')');
    emit(code);
  }

  void parse_property(Operand operand, std::string_view tensor, int depth) {
    if (!accept('.'))
      fail_at(cat("'", tensor,
                  "' is a tensor: of it a formula reads .numel, .rank, .size(DIM), .stride(DIM) or .itemsize"));
    const std::string_view word = parse_name();
    if (word == "numel") return emit(Do::numel, operand);
    if (word == "rank") return emit(Do::rank, operand);
    if (word == "itemsize") return emit(Do::itemsize, operand);
    if (word != "size" && word != "stride")
      fail_at(cat("tensors have no '.", word, "'; there are .numel, .rank, .size(DIM), .stride(DIM) and .itemsize"));
    expect('('), parse_sum(depth + 1), expect(')');
    emit(word == "size" ? Do::size : Do::stride, operand);
  }

  Formula& out_;
  const Schema& schema_;
  const std::string& text_;
  size_t at_ = 0;
};

Formula::Formula(std::string_view text, const Schema& schema, std::string_view what) : text_(text), what_(what) {
  FormulaParser(*this, schema).parse();
}

namespace {

// The type of a node's tensor; null: it is absent.
const TensorType* type_of(const NodeView& view, Operand operand) {
  if (operand.kind == Operand::Kind::result) return &view.store.type(view.node.results[operand.index]);
  const Arg& a = view.node.args[operand.index];
  return a.kind == ArgKind::value ? &view.store.type(a.v) : nullptr;
}

int64_t multiply_sizes_from(const TensorType& type, size_t first) {
  int64_t n = 1;
  for (size_t i = first; i < type.rank(); i++) n = checked_mul(n, type.shape[i].value());
  return n;
}

int64_t size_or_stride(const NodeView& view, Operand operand, const TensorType& type, int64_t dim, bool stride) {
  const size_t at = normalize_axis(dim, type.rank());
  if (!stride) return type.shape[at].value();
  const bool result = operand.kind == Operand::Kind::result;
  const std::span<const Buffer> buffers = result ? view.outputs : view.inputs;
  const size_t index = result ? operand.index : input_index_of(view.node, operand.index);
  return index < buffers.size() ? buffers[index].strides[at] : multiply_sizes_from(type, at + 1);
}

int64_t ceildiv(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

}  // namespace

// Requires: b is not 0 where it divides.
int64_t Formula::apply_operation(Operation operation, int64_t a, int64_t b) {
  using Do = Operation;
  switch (operation) {
    case Do::add:
      return checked_add(a, b);
    case Do::sub:
      return checked_sub(a, b);
    case Do::mul:
      return checked_mul(a, b);
    case Do::min:
      return std::min(a, b);
    case Do::max:
      return std::max(a, b);
    case Do::mod:
      return b == -1 ? 0 : a % b;
    default:
      return b == -1 ? checked_sub(0, a) : operation == Do::div ? a / b : ceildiv(a, b);
  }
}

int64_t Formula::evaluate(const NodeView& view) const {
  using Do = Operation;
  std::vector<int64_t> stack;
  const auto pop = [&] {
    const int64_t top = stack.back();
    return stack.pop_back(), top;
  };
  const auto bad = [&](std::string_view why) { fail(Code::invalid_argument, what_, " \"", text_, "\": ", why); };
  for (const Step& s : steps_) {
    const TensorType* const type = s.operand.is_tensor() ? type_of(view, s.operand) : nullptr;
    switch (s.operation) {
      case Do::integer:
        stack.push_back(s.number);
        break;
      case Do::argument: {
        const Arg& a = view.node.args[s.operand.index];
        if (a.kind != ArgKind::integer) bad(cat("argument ", s.operand.index, " is not given"));
        stack.push_back(a.i);
        break;
      }
      case Do::numel:
        stack.push_back(type ? multiply_sizes_from(*type, 0) : 0);
        break;
      case Do::rank:
        stack.push_back(type ? static_cast<int64_t>(type->rank()) : 0);
        break;
      case Do::itemsize:
        stack.push_back(type ? static_cast<int64_t>(size_of(type->dtype)) : 0);
        break;
      case Do::size:
      case Do::stride: {
        const int64_t dim = pop();
        stack.push_back(type ? size_or_stride(view, s.operand, *type, dim, s.operation == Do::stride) : 0);
        break;
      }
      case Do::negate:
        stack.push_back(checked_sub(0, pop()));
        break;
      default: {
        const int64_t b = pop(), a = pop();
        if ((s.operation == Do::div || s.operation == Do::mod || s.operation == Do::ceildiv) && b == 0)
          bad("it divides by zero");
        stack.push_back(apply_operation(s.operation, a, b));
      }
    }
  }
  return pop();
}

}  // namespace thunder::kernels
