#include "jit/context/printing.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace thunder {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostDigits = 1000;

constexpr std::array kRows = {
    OptionRow{"profile", ArgKind::string, "default",
              "\"default\"; \"short\": 2 digits, and 2 elements of each end; \"full\": nothing is left out. The "
              "options beside it go on top."},
    OptionRow{"precision", ArgKind::integer, "4", "Digits of floating-point numbers behind the point."},
    OptionRow{"threshold", ArgKind::real, "1000",
              "Tensors of more elements are summarized: of each long dim the ends are shown. Infinity: none is."},
    OptionRow{"edgeitems", ArgKind::integer, "3", "How many elements of each end a summary shows."},
    OptionRow{"linewidth", ArgKind::integer, "80", "Where lines are broken, in characters."},
    OptionRow{"sci_mode", ArgKind::boolean, "null",
              "Scientific notation of floating-point numbers: always or never; without it, where the elements of the "
              "tensor ask for it."},
};

int64_t read_nonnegative(const Options& given, std::string_view name, int64_t now, std::string_view who) {
  const int64_t n = given.integer(name, now);
  require(n >= 0, who, ": option '", name, "' must not be negative, got ", n);
  return n;
}

// The largest number of elements that is not above it.
int64_t read_threshold(const Options& given, int64_t now, std::string_view who) {
  if (!given.find("threshold")) return now;
  const double n = given.real("threshold", 0);
  require(n >= 0, who, ": option 'threshold' must not be negative, got ", n);  // nor NaN
  return n < 0x1p62 ? static_cast<int64_t>(std::floor(n)) : kNever;
}

}  // namespace

std::span<const OptionRow> print_option_rows() { return kRows; }

TensorPrintOptions print_options(const Options& given, TensorPrintOptions now, std::string_view who) {
  given.check(kRows, who);
  if (given.find("profile")) {
    const std::string name = given.text("profile", "");
    const auto profile = print_profile(name);
    require(profile.has_value(),
            who, ": option 'profile' must be \"default\", \"short\" or \"full\", got \"", name, "\"");
    const auto notation = now.sci_mode;
    now = *profile, now.sci_mode = notation;
  }
  now.precision = read_nonnegative(given, "precision", now.precision, who);
  require(now.precision <= kMostDigits, who, ": option 'precision' must be at most ", kMostDigits, ", got ",
          now.precision);
  now.threshold = read_threshold(given, now.threshold, who);
  now.edgeitems = read_nonnegative(given, "edgeitems", now.edgeitems, who);
  now.linewidth = read_nonnegative(given, "linewidth", now.linewidth, who);
  if (given.find("sci_mode")) now.sci_mode = given.flag("sci_mode", false);
  return now;
}

std::string print_option_text(const TensorPrintOptions& o, std::string_view name) {
  if (name == "precision") return cat(o.precision);
  if (name == "threshold") return o.threshold == kNever ? "inf" : cat(o.threshold);
  if (name == "edgeitems") return cat(o.edgeitems);
  if (name == "linewidth") return cat(o.linewidth);
  if (name == "sci_mode") return o.sci_mode ? cat(*o.sci_mode) : "null";
  return "";  // a profile is no value of its own
}

}  // namespace thunder
