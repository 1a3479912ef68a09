#include "executors/cuda/kernels/parameters.h"

#include <cstring>
#include <limits>

#include "base/text.h"

namespace thunder::kernels {
namespace {

std::string_view trim(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t\n");
  return first == s.npos ? "" : s.substr(first, s.find_last_not_of(" \t\n") + 1 - first);
}

struct TypeName {
  std::string_view name;
  ParameterType type;
};
constexpr TypeName kTypes[] = {{"int", ParameterType::i32},       {"unsigned", ParameterType::u32},
                               {"long long", ParameterType::i64}, {"size_t", ParameterType::u64},
                               {"float", ParameterType::f32},     {"double", ParameterType::f64},
                               {"bool", ParameterType::boolean}};

template <class T>
Word to_word(T value) {
  Word w;
  std::memcpy(w.bytes.data(), &value, sizeof value);
  return w;
}

Word to_checked_word(int64_t value, ParameterType type, const std::string& text) {
  const auto narrow = [&]<class T>(T) {
    if (value < static_cast<int64_t>(std::numeric_limits<T>::min()) ||
        value > static_cast<int64_t>(std::numeric_limits<T>::max()))
      fail(Code::invalid_argument, "parameter \"", text, "\" is ", value, ", which its type does not hold");
    return to_word(static_cast<T>(value));
  };
  switch (type) {
    case ParameterType::i32:
      return narrow(int32_t{});
    case ParameterType::u32:
      return narrow(uint32_t{});
    case ParameterType::i64:
    case ParameterType::u64:
      return to_word(value);
    case ParameterType::f32:
      return to_word(static_cast<float>(value));
    case ParameterType::f64:
      return to_word(static_cast<double>(value));
    case ParameterType::boolean:
      return to_word(value != 0);
  }
  return {};
}

Parameter parse_parameter(std::string_view text, const Schema& schema, const std::string& what) {
  Parameter out;
  if (text == "null") return out;
  std::optional<ParameterType> type;
  std::string_view rest = text;
  for (const TypeName& t : kTypes)
    if (text.size() > t.name.size() && text.starts_with(t.name) &&
        (text[t.name.size()] == ' ' || text[t.name.size()] == '('))
      type = t.type, rest = trim(text.substr(t.name.size()));
  const std::optional<Operand> operand = find_operand(schema, rest);
  using Kind = Operand::Kind;
  if (operand && operand->is_tensor()) {
    require(!type, what, " \"", text, "\": a tensor is passed as its address, and has no type before it");
    out.kind = Parameter::Kind::tensor, out.operand = *operand;
  } else if (operand && (operand->kind == Kind::real || operand->kind == Kind::boolean)) {
    const bool real = operand->kind == Kind::real;
    out.kind = real ? Parameter::Kind::real : Parameter::Kind::boolean, out.operand = *operand;
    out.type = type.value_or(real ? ParameterType::f64 : ParameterType::boolean);
    require(!real || out.type == ParameterType::f32 || out.type == ParameterType::f64, what, " \"", text, "\": '", rest,
            "' is a float, which is passed as float or double");
  } else {
    out.kind = Parameter::Kind::formula, out.type = type.value_or(ParameterType::i64);
    out.formula.emplace(rest, schema, what);
  }
  return out;
}

}  // namespace

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); i++) {
    if (i < text.size()) depth += (text[i] == '(') - (text[i] == ')');
    if (i == text.size() || (text[i] == ',' && depth == 0))
      out.push_back(trim(text.substr(begin, i - begin))), begin = i + 1;
  }
  return out;
}

std::vector<Parameter> parse_parameters(std::string_view text, const Schema& schema, const std::string& what) {
  std::vector<Parameter> out;
  if (trim(text).empty()) {
    for (const Param& p : schema.params) out.push_back(parse_parameter(p.name, schema, what));
    for (size_t i = 0; i < schema.results.size(); i++)
      out.push_back(parse_parameter(result_name(schema, i), schema, what));
  } else {
    for (std::string_view part : split_at_commas(text)) out.push_back(parse_parameter(part, schema, what));
  }
  require(out.size() <= kMaxParameters, what, ": there are ", out.size(), "; ", kMaxParameters, " is the limit");
  return out;
}

Word evaluate_parameter(const Parameter& p, const NodeView& view) {
  const auto argument = [&]() -> const Arg& { return view.node.args[p.operand.index]; };
  switch (p.kind) {
    case Parameter::Kind::null:
    case Parameter::Kind::tensor:
      break;
    case Parameter::Kind::formula:
      return to_checked_word(p.formula->evaluate(view), p.type, p.formula->text());
    case Parameter::Kind::boolean:
      return to_checked_word(argument().kind == ArgKind::boolean && argument().i, p.type, "a boolean");
    case Parameter::Kind::real: {
      const Arg& a = argument();
      const double value = a.kind == ArgKind::real ? a.f : a.kind == ArgKind::integer ? static_cast<double>(a.i) : 0;
      return p.type == ParameterType::f32 ? to_word(static_cast<float>(value)) : to_word(value);
    }
  }
  return to_word(uint64_t{0});
}

}  // namespace thunder::kernels
