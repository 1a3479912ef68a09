#include "jit/record/shapes.h"

#include <charconv>

#include "base/text.h"
#include "jit/record/dim_masks.h"

namespace thunder {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(at, from), text.size());
    out.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

class Formula {
 public:
  Formula(std::string_view text, const std::map<int64_t, Dim>& symbols) : text_(text), symbols_(symbols) {}
  std::optional<Dim> parse() {
    const Dim made = parse_operation(0);
    if (at_ != text_.size()) refuse();
    return known_ ? std::optional(made) : std::nullopt;
  }

 private:
  [[noreturn]] void refuse() const {
    fail(Code::failed_precondition, "compile: option 'dynamic_shapes': '", text_, "' is no formula of sizes");
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : 0; }

  Dim parse_operation(int depth) {
    const Dim a = parse_operand(depth);
    const char op = peek();
    if (!op || std::string_view("+-*/%").find(op) == std::string_view::npos) return a;
    at_++;
    const Dim b = parse_operand(depth);
    switch (op) {
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return a / b;
      default: return a % b;
    }
  }
  Dim parse_operand(int depth) {
    constexpr int kDeepest = 64;
    if (peek() == '(' && depth < kDeepest) {
      at_++;
      const Dim inner = parse_operation(depth + 1);
      if (peek() != ')') refuse();
      at_++;
      return inner;
    }
    const bool name = peek() == 's';
    at_ += name;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) refuse();
    at_ = static_cast<size_t>(end - text_.data());
    if (!name) return number;
    const auto it = symbols_.find(number);
    if (it == symbols_.end()) return known_ = false, Dim(2);  // any size: nobody gets what is made of it
    return it->second;
  }

  const std::string_view text_;
  const std::map<int64_t, Dim>& symbols_;
  size_t at_ = 0;
  bool known_ = true;
};

}  // namespace

DynamicShapes::DynamicShapes(const CompileOptions& options, const Values& in) {
  const std::string& text = options.settings().dynamic_shapes;
  if (text.empty()) return;
  for (std::string_view argument : split(text, ';')) {
    const size_t colon = argument.find(':');
    const size_t leaf = colon == argument.npos ? SIZE_MAX : in.find(argument.substr(0, colon));
    const bool integer = leaf < in.size() && in[leaf].kind == ArgKind::integer;
    const bool tensor = leaf < in.size() && in[leaf].kind == ArgKind::value && in[leaf].tensor->concrete();
    require(tensor || integer, "compile: option 'dynamic_shapes': '", argument,
            "' is about no tensor or integer among the arguments");
    const std::vector<std::string_view> sizes = split(argument.substr(colon + 1), ',');
    require(sizes.size() == (integer ? 1 : in[leaf].tensor->type().rank()), "compile: option 'dynamic_shapes': '",
            argument, "' says ", sizes.size(), " sizes, which the argument has not");
    for (size_t dim = 0; dim < sizes.size(); dim++)
      if (sizes[dim] != "*") formulas_[{leaf, dim}] = sizes[dim];
  }
}

DimMask DynamicShapes::mask(const Values& in) const {
  DimMask out = make_empty_mask(in);
  for (const auto& [at, formula] : formulas_) out[at.first][at.second] = may_vary(in[at.first], at.second);
  return out;
}

const std::string* DynamicShapes::formula(size_t leaf, size_t dim) const {
  const auto it = formulas_.find({leaf, dim});
  return it == formulas_.end() ? nullptr : &it->second;
}

std::optional<int64_t> DynamicShapes::symbol(size_t leaf, size_t dim) const {
  const std::string* text = formula(leaf, dim);
  int64_t number = 0;
  if (!text || text->size() < 2 || (*text)[0] != 's') return std::nullopt;
  const auto [end, error] = std::from_chars(text->data() + 1, text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(number) : std::nullopt;
}

std::optional<Dim> parse_formula(std::string_view formula, const std::map<int64_t, Dim>& symbols) {
  return Formula(formula, symbols).parse();
}

}  // namespace thunder
