// Names that a function in C cannot have: words of the language and of C++, what the headers of an exported source
// declare, and what that source declares itself.
#include <algorithm>

#include "jit/programs/c_ops.h"
#include "jit/programs/c_source.h"

namespace thunder {
namespace {

constexpr std::string_view kWords[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    // Names that compilers predefine or treat specially.
    "main",
    "linux",
    "unix",
    "i386",
    "errno",
    "math_errhandling",
    "signgam",
};
// Names declared by <string.h>, <stdint.h> and <stddef.h>, and by <math.h> without forms for float and long double.
constexpr std::string_view kDeclared[] = {
    "NULL",           "size_t",         "ptrdiff_t",  "max_align_t", "offsetof",      "locale_t",    "memcpy",
    "memmove",        "memset",         "memcmp",     "memchr",      "memccpy",       "memmem",      "mempcpy",
    "memrchr",        "rawmemchr",      "memfrob",    "strcpy",      "strncpy",       "strcat",      "strncat",
    "strcmp",         "strncmp",        "strcoll",    "strxfrm",     "strchr",        "strrchr",     "strcspn",
    "strspn",         "strpbrk",        "strstr",     "strtok",      "strtok_r",      "strlen",      "strnlen",
    "strerror",       "strerror_r",     "strerror_l", "strdup",      "strndup",       "strsep",      "strsignal",
    "strcasecmp",     "strncasecmp",    "strcasestr", "strchrnul",   "strverscmp",    "stpcpy",      "stpncpy",
    "strfry",         "strlcpy",        "strlcat",    "strcoll_l",   "strxfrm_l",     "basename",    "index",
    "rindex",         "bcmp",           "bcopy",      "bzero",       "ffs",           "ffsl",        "ffsll",
    "explicit_bzero", "fpclassify",     "isfinite",   "isinf",       "isnan",         "isnormal",    "signbit",
    "isgreater",      "isgreaterequal", "isless",     "islessequal", "islessgreater", "isunordered", "float_t",
    "double_t",       "HUGE_VAL",       "INFINITY",   "NAN",         "MAXFLOAT",
};
// Names declared by <math.h>, each also with the suffixes f and l.
constexpr std::string_view kMath[] = {
    "acos",       "acosh",     "asin",      "asinh",      "atan",         "atan2",       "atanh",     "cbrt",
    "ceil",       "copysign",  "cos",       "cosh",       "drem",         "erf",         "erfc",      "exp",
    "exp10",      "exp2",      "expm1",     "fabs",       "fdim",         "finite",      "floor",     "fma",
    "fmax",       "fmin",      "fmod",      "frexp",      "gamma",        "hypot",       "ilogb",     "isinf",
    "isnan",      "j0",        "j1",        "jn",         "ldexp",        "lgamma",      "llrint",    "llround",
    "log",        "log10",     "log1p",     "log2",       "logb",         "lrint",       "lround",    "modf",
    "nan",        "nearbyint", "nextafter", "nexttoward", "pow",          "pow10",       "remainder", "remquo",
    "rint",       "round",     "scalb",     "scalbln",    "scalbn",       "significand", "sin",       "sincos",
    "sinh",       "sqrt",      "tan",       "tanh",       "tgamma",       "trunc",       "y0",        "y1",
    "yn",         "fmaximum",  "fminimum",  "roundeven",  "canonicalize", "llogb",       "lgamma_r",  "totalorder",
    "getpayload", "nextup",    "nextdown",
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

// Whether a text of C defines the macro, or a function at its left margin.
bool defines(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at && is_letter(text[at - 1])) || (end < text.size() && is_letter(text[end]))) continue;
    const size_t line = text.rfind('\n', at) == text.npos ? 0 : text.rfind('\n', at) + 1;
    const std::string_view before = text.substr(line, at - line);
    const bool called = end < text.size() && text[end] == '(';
    const bool function = called && before.starts_with("static ") && before.find('(') == before.npos;
    if (function || before == "#define ") return true;
  }
  return false;
}

bool is_math_name(std::string_view name) {
  const auto has = [](std::string_view n) {
    return std::find(std::begin(kMath), std::end(kMath), n) != std::end(kMath);
  };
  const bool longer = name.size() > 1 && (name.back() == 'f' || name.back() == 'l');
  return has(name) || (longer && has(name.substr(0, name.size() - 1)));
}

}  // namespace

bool is_taken_in_c(std::string_view name) {
  const auto in = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  if (in(kWords) || in(kDeclared) || is_math_name(name)) return true;
  // Types and limits of <stdint.h>, functions of OpenMP, and what the language keeps for compilers.
  const bool type = name.ends_with("_t") && (name.starts_with("int") || name.starts_with("uint"));
  const bool limit = name.starts_with("INT") || name.starts_with("UINT") || name.starts_with("SIZE_") ||
                     name.starts_with("PTRDIFF_") || name.starts_with("M_") || name.starts_with("FP_");
  if (type || limit || name.starts_with("omp_") || name.starts_with("__")) return true;
  const std::string_view ours[] = {kCRuntime, kCConvolutions, kCPools, kCRandom};
  return std::any_of(std::begin(ours), std::end(ours), [&](std::string_view text) { return defines(text, name); });
}

}  // namespace thunder
