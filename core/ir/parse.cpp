#include "ir/parse.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_set>

#include "ir/spelling.h"
#include "ir/terms.h"
#include "ir/text_lines.h"

namespace thunder {
namespace {

using spelling::kCheckpoint;
using spelling::kDeepestBlock;
using spelling::kRegion;
constexpr std::string_view kHeader = "-- libthunder trace 1: ";

class Parser {
 public:
  Parser(std::string_view text, OpSource& source) : lines_(text), source_(source), terms_(*source.store()) {
    trace_.store = source.store();
  }

  Trace run() {
    header();
    statement(lines_.next(), [&](Cursor& c) { words(c, {"return", "function", "(", "p", ",", "c", ",", "i", ")"}); });
    statement(lines_.next(), [&](Cursor& c) { words(c, {"local", "t", "=", "{", "}"}); });
    Cursor c = lines_.next();
    for (; c.accept_word("local"); c = lines_.next()) statement(c, [&](Cursor& at) { terms_.declare_symbol(at); });
    // Inputs' types may need the symbols.
    for (Cursor& input : inputs_) statement(input, [&](Cursor& at) { this->input(at); });
    for (; !c.at("copy_(") && !at_word(c, "return"); c = lines_.next())
      statement(c, [&](Cursor& at) { parse_line_or_block(at, trace_.nodes); });
    for (; c.at("copy_("); c = lines_.next()) statement(c, [&](Cursor& at) { write(at); });
    statement(c, [&](Cursor& at) { outputs(at); });
    statement(lines_.next(), [&](Cursor& at) { words(at, {"end"}); });
    if (lines_.more()) lines_.next().bad("unexpected text after 'end'");
    return std::move(trace_);
  }

 private:
  // Reads a whole statement; gives errors of other layers its place.
  template <class F>
  void statement(Cursor c, F&& read) {
    try {
      read(c);
      if (!c.done()) c.expected("the end of the line");
    } catch (const PlacedError&) {
      throw;
    } catch (const Error& e) {
      if (e.code() == Code::internal || e.code() == Code::out_of_memory) throw;
      c.bad(e.message());
    }
  }
  static void words(Cursor& c, std::initializer_list<std::string_view> tokens) {
    for (auto token : tokens) c.expect(token);
  }
  static bool at_word(Cursor c, std::string_view word) { return c.accept_word(word); }

  // ---- the comments before the function ----

  void header() {
    while (!lines_.ended() && lines_.current().done()) lines_.skip();
    std::string_view title = lines_.text();
    Cursor c = lines_.current();
    if (title.substr(0, kHeader.size()) != kHeader) c.expected("'", kHeader, "'");
    title.remove_prefix(kHeader.size());
    const size_t time = title.rfind(" (");
    if (time == title.npos || title.size() < time + 6 || title.substr(title.size() - 4) != " ms)")
      c.bad("expected '(NUMBER ms)' at the end of the line");
    const std::string_view number = title.substr(time + 2, title.size() - time - 6);
    auto read = std::from_chars(number.data(), number.data() + number.size(), trace_.milliseconds);
    const bool good =
        read.ec == std::errc() && trace_.milliseconds >= 0 && trace_.milliseconds <= std::numeric_limits<double>::max();
    if (!good || read.ptr != number.data() + number.size())
      c.bad("expected a number of milliseconds, got '", number.substr(0, 40), "'");
    title = title.substr(0, time);
    const size_t after = title.rfind(", after ");
    trace_.function = unescape_comment(title.substr(0, after));
    if (after != title.npos) trace_.pass = unescape_comment(title.substr(after + 8));
    lines_.skip();
    for (; !lines_.ended(); lines_.skip()) {
      Cursor input = lines_.current();
      if (!input.accept("--")) break;
      if (Cursor remark = input; remark.accept("~")) continue;
      inputs_.push_back(input);
    }
  }

  void input(Cursor& c) {
    auto [table, k] = terms_.place(c, "ipc");
    const std::string_view left = c.left();
    const size_t colon = left.rfind(": ");
    if (colon == left.npos) c.expected("': TYPE'");
    c.advance(colon + 2);
    const TensorType type = terms_.type(c);
    const Source source = table == 'i' ? Source::argument : table == 'p' ? Source::parameter : Source::constant;
    const ValueId v = trace_.store->add(type);
    terms_.define(c, table, k, v);
    input_at_.emplace(v, trace_.inputs.size());
    trace_.inputs.push_back({v, source, k - 1, unescape_comment(left.substr(colon ? 1 : 0, colon ? colon - 1 : 0))});
  }

  // ---- the function ----

  const Op& callee(Cursor& c) {
    std::string name;
    if (c.accept("op[")) {
      name = c.quoted();
      c.expect("]");
    } else {
      name = c.word();
      while (c.accept(".")) name += cat('.', c.word());
    }
    const Op* op = source_.find(name);
    if (!op) c.bad("unknown op '", name.substr(0, 80), "'");
    return *op;
  }

  void parse_line_or_block(Cursor& c, std::vector<const Node*>& into) {
    at_word(c, "do") ? block(c, into) : line(c, into);
  }

  // do  -- region (or checkpoint) RESULTS by EXECUTOR at PLACE, its lines, end
  void block(Cursor& c, std::vector<const Node*>& into) {
    if (++depth_ > kDeepestBlock) c.bad("blocks lie in more than ", kDeepestBlock, " others");
    words(c, {"do", "--"});
    const bool checkpoint = c.accept_word(kCheckpoint);
    if (!checkpoint && !c.accept_word(kRegion)) c.expected("'", kRegion, "' or '", kCheckpoint, "'");
    const Op* op = source_.find(checkpoint ? kCheckpoint : kRegion);
    if (!op) c.bad("this library has no such blocks");
    Cursor leaving = c;  // named before they are made
    while (terms_.at_value(c)) {
      terms_.place(c, "t");
      if (!c.accept(",")) break;
    }
    comment_.reset();
    parse_executor_and_place(c);
    const char *where = comment_.where, *executor = comment_.executor;
    std::vector<const Node*> body;
    Cursor at = lines_.next();
    for (; !at_word(at, "end"); at = lines_.next())
      statement(at, [&](Cursor& inner) { parse_line_or_block(inner, body); });
    statement(at, [&](Cursor& end) { words(end, {"end"}); });
    std::unordered_set<ValueId> made, read;
    std::vector<ValueId> inputs, results;
    for (const Node* n : body) {
      for_each_value(n->args, [&](ValueId v) {
        if (!made.count(v) && read.insert(v).second) inputs.push_back(v);
      });
      made.insert(n->results.begin(), n->results.end());
    }
    while (terms_.at_value(leaving)) {
      results.push_back(terms_.value(leaving));
      if (!made.count(results.back())) leaving.bad("a block gives only what its lines make");
      if (!leaving.accept(",")) break;
    }
    const Arg args[] = {Arg::values(inputs), Arg::integer(static_cast<int64_t>(trace_.store->size()))};
    into.push_back(trace_.store->node(op, std::span(args, op->schema.params.size()), results, body, where, executor));
    depth_--;
  }

  void line(Cursor& c, std::vector<const Node*>& into) {
    places_.clear();
    const bool moved = c.accept("table.move({");
    if (!moved && terms_.at_value(c)) {
      do places_.push_back(terms_.place(c, "t").second);
      while (c.accept(","));
      c.expect("=");
    }
    const Op& op = callee(c);
    std::span<const Arg> args = terms_.arguments(c, op);
    if (moved) move_targets(c);
    comment_.reset();
    if (c.accept("--")) comment(c);
    const Node* node = source_.build({op, args, places_.size(), comment_.where, comment_.executor, comment_.draw});
    if (node->results.size() != places_.size())
      c.bad(op.name(), " has ", node->results.size(), " results here, the line names ", places_.size());
    if (comment_.typed) check_types(c, *node);
    for (size_t i = 0; i < places_.size(); i++) terms_.define(c, 't', places_[i], node->results[i]);
    into.push_back(node);
  }

  void move_targets(Cursor& c) {
    words(c, {"}", ",", "1", ","});
    // The largest number that the line could list, so that memory stays in proportion to the text.
    const uint32_t count = c.count(static_cast<uint32_t>(std::min<size_t>(lines_.bytes(), 1u << 28)));
    c.expect(",");
    const uint32_t first = c.count(1u << 29);
    words(c, {",", "t", ")"});
    for (uint32_t k = 0; k < count; k++) places_.push_back(first + k);
  }

  void check_types(const Cursor& c, const Node& node) {
    if (comment_.types.size() != node.results.size())
      c.bad("the comment gives ", comment_.types.size(), " types for ", node.results.size(), " results");
    for (size_t i = 0; i < node.results.size(); i++) {
      const TensorType& is = trace_.store->type(node.results[i]);
      if (!(comment_.types[i] == is))
        c.bad(node.op->name(), ": the comment says ", name(comment_.types[i]), ", the result is ", name(is));
    }
  }

  struct Comment {
    bool typed = false;
    std::vector<TensorType> types;
    const char* where = nullptr;
    const char* executor = nullptr;
    std::optional<FirstDraw> draw;
    void reset() { typed = false, types.clear(), where = executor = nullptr, draw.reset(); }
  };

  void comment(Cursor& c) {
    comment_.typed = true;
    if (!c.accept("()")) {
      do {
        comment_.types.push_back(terms_.type(c));
        c.accept(spelling::kChannelsLast);  // where it lies is found anew
      } while (c.accept(","));
    }
    if (c.accept_word("drawing")) {
      const int64_t ordinal = c.integer();
      if (!c.accept_word("from")) c.expected("'from'");
      comment_.draw = FirstDraw{terms_.value(c), ordinal};
    }
    parse_executor_and_place(c);
  }

  void parse_executor_and_place(Cursor& c) {
    const bool claimed = c.accept_word("by");
    if (!claimed && !c.accept_word("at")) return;
    std::string_view left = c.left();
    c.advance(left.size());
    if (!left.empty()) left.remove_prefix(1);
    if (claimed) {
      const size_t at = left.find(" at ");
      comment_.executor = intern_text(left.substr(0, at));
      if (at == left.npos) return;
      left.remove_prefix(at + 4);
    }
    comment_.where = intern_text(left);
  }

  // Many lines share an executor and a source line.
  const char* intern_text(std::string_view escaped) {
    auto [it, fresh] = texts_.try_emplace(std::string(escaped), nullptr);
    if (fresh) it->second = trace_.store->text(unescape_comment(escaped));
    return it->second;
  }

  void write(Cursor& c) {
    c.expect("copy_(");
    const ValueId to = terms_.value(c);
    auto input = input_at_.find(to);
    if (input == input_at_.end()) c.bad("only an input can be written");
    c.expect(",");
    const ValueId value = terms_.value(c);
    c.expect(")");
    TensorType target = trace_.type(to), from = trace_.type(value);
    target.weak = from.weak = false;
    if (!(target == from)) c.bad("a write of ", name(from), " to an input that is ", name(target));
    const auto index = static_cast<uint32_t>(input->second);
    if (!written_.emplace(index, true).second) c.bad("an input is written twice");
    trace_.writes.push_back({index, value});
  }

  void outputs(Cursor& c) {
    if (!c.accept_word("return")) c.expected("'return'");
    if (c.done()) return;
    const bool packed = c.accept("table.unpack({");
    do trace_.outputs.push_back(terms_.value(c));
    while (c.accept(","));
    if (packed) c.expect("})");
  }

  TextLines lines_;
  OpSource& source_;
  Terms terms_;
  Trace trace_;
  size_t depth_ = 0;  // blocks that are open
  std::vector<Cursor> inputs_;
  std::unordered_map<ValueId, size_t> input_at_;
  std::unordered_map<uint32_t, bool> written_;
  std::unordered_map<std::string, const char*> texts_;
  std::vector<uint32_t> places_;
  Comment comment_;
};

}  // namespace

Trace parse(std::string_view text, OpSource& source) { return Parser(text, source).run(); }

}  // namespace thunder
