// A profile for people, for programs and for Chrome's trace viewer.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "jit/reports/profile.h"
#include "base/utf8.h"

namespace thunder {
namespace {

// Three digits that count.
std::string digits(double v) {
  if (v == 0) return "0";
  const double unit = std::pow(10, std::floor(std::log10(std::abs(v))) - 2);
  return cat(unit < 1 ? std::round(v / unit) / std::round(1 / unit) : std::round(v / unit) * unit);
}

std::string padded(std::string text, size_t width, bool right = false) {
  if (text.size() < width) text.insert(right ? 0 : text.size(), width - text.size(), ' ');
  return text;
}

std::string percent(double share) { return cat(std::round(share * 1000) / 10, " %"); }

}  // namespace

std::string Profile::text() const {
  std::string out = cat(function, ": ", digits(milliseconds), " ms a call, the median of ", runs,
                        runs == 1 ? " run" : " runs", "; the machine: ", digits(limits.gflops), " GFLOP/s, ",
                        digits(limits.gbytes), " GB/s, measured now\n");
  const double all = std::accumulate(steps.begin(), steps.end(), 0.0,
                                     [](double sum, auto& s) { return sum + s.milliseconds; });
  std::vector<const ProfiledStep*> order;
  for (const ProfiledStep& s : steps) order.push_back(&s);
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->milliseconds > b->milliseconds; });
  out += "    step        ms    of all        MB     MFLOP  of limit  ops\n";
  for (const ProfiledStep* s : order)
    out += cat(padded(cat(s - steps.data() + 1), 8, true), padded(digits(s->milliseconds), 10, true),
               padded(percent(all > 0 ? s->milliseconds / all : 0), 10, true),
               padded(digits(s->bytes * 1e-6), 10, true),
               padded(digits(s->flops * 1e-6), 10, true),
               padded(cat(percent(s->share), s->by_memory ? " m" : " a"), 10, true), "  ", s->ops,
               s->executor.empty() ? "" : cat(" by ", s->executor),
               s->where.empty() ? "" : cat(" at ", s->where), "\n");
  out += "of limit: of what memory (m) or arithmetic (a) allows; above 100 % the caches held what was read\n";
  if (collectives.empty()) return out;
  out += "collectives, as this rank sees them:\n    step        MB  alone ms  exposed ms  ops\n";
  for (const ProfiledCollective& c : collectives)
    out += cat(padded(cat(c.step + 1), 8, true), padded(digits(c.bytes * 1e-6), 10, true),
               padded(digits(c.alone), 10, true), padded(digits(c.exposed), 12, true), "  ", steps[c.step].ops,
               steps[c.step].where.empty() ? "" : cat(" at ", steps[c.step].where), "\n");
  return out + "alone: until its result is there, where the rank waits at once; exposed: the wait beside all else\n";
}

std::string Profile::json() const {
  const auto step = [](const ProfiledStep& s) {
    return cat("{\"ops\":", json_quote(s.ops), ",\"executor\":", json_quote(s.executor), ",\"where\":",
               json_quote(s.where), ",\"flops\":", s.flops, ",\"bytes\":", s.bytes, ",\"ms\":", s.milliseconds,
               ",\"share\":", s.share, ",\"bound\":\"", s.by_memory ? "memory" : "arithmetic", "\"}");
  };
  const auto span = [](const ProfiledSpan& s) {
    return cat("{\"step\":", s.step, ",\"thread\":", s.thread, ",\"begin\":", s.begin, ",\"end\":", s.end, "}");
  };
  const auto collective = [](const ProfiledCollective& c) {
    return cat("{\"step\":", c.step, ",\"wait\":", c.wait, ",\"bytes\":", c.bytes, ",\"alone\":", c.alone,
               ",\"exposed\":", c.exposed, "}");
  };
  return cat("{\"function\":", json_quote(function), ",\"runs\":", runs, ",\"ms\":", milliseconds, ",\"gflops\":",
             limits.gflops, ",\"gbytes\":", limits.gbytes, ",\"steps\":[", join(steps, ",", step), "],\"spans\":[",
             join(spans, ",", span), "],\"collectives\":[", join(collectives, ",", collective), "]}");
}

std::string Profile::chrome_trace() const {
  const auto event = [&](const ProfiledSpan& s) {
    const ProfiledStep& step = steps[s.step];
    return cat("{\"name\":", json_quote(step.ops), ",\"cat\":",
               json_quote(step.executor.empty() ? "copy" : step.executor), ",\"ph\":\"X\",\"pid\":1,\"tid\":", s.thread,
               ",\"ts\":", s.begin, ",\"dur\":", s.end - s.begin, ",\"args\":{\"step\":", s.step + 1,
               ",\"where\":", json_quote(step.where), ",\"flops\":", step.flops, ",\"bytes\":", step.bytes, "}}");
  };
  return cat("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{"
             "\"name\":", json_quote(function), "}}", spans.empty() ? "" : ",", join(spans, ",", event), "]}");
}

}  // namespace thunder
