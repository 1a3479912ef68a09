// Programs in files: what is loaded gives the bits of what was saved, and no file does worse than fail.
// covers: core/jit/programs/load_program.cpp core/jit/saved/saved_symbols.cpp
#include "jit/programs/load_program.h"

#include "support/bytes.h"
#include "support/failure.h"
#include "support/functions.h"
#include "tensor/safetensors.h"
#include "tracer/eager.h"
#include "tracer/tracing.h"

namespace thunder::test {
namespace {

struct Programs : CompiledTest {
  Folder folder;

  Ref<Compiled> load(const std::string& path, Ref<Context> into = make<Context>(ContextHooks{})) {
    const LoadedProgram p = load_program(into, path, nullptr);
    return make<Compiled>(into, p.function, p.options.get());
  }
  Ref<Compiled> again(const Compiled& f) {
    save_program(f, folder / "f.thunder");
    return load(folder / "f.thunder");
  }
  Status* call(Compiled& f, const Values& in, Values& out) { return f.call(in, out); }
  std::string refusal(Compiled& f, const Values& in) {
    Values out;
    Status* failed = f.call(in, out);
    if (!failed) return "no error";
    const std::string message = failed->message();
    failed->release();
    return message;
  }
};

// Arguments of every kind, in a structure; a captured tensor; a result that is a constant.
Ref<Function> rich(const Ref<Tensor>& w) {
  return Ref<Function>::adopt(new Lambda([w](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "matmul", {any(in[1].tensor), any(w)});
    y = op(s, "mul", {any(y), any(in[0].tensor)});
    in.note_read(0);
    y = op(s, "add", {any(y), Any::integer(in[2].i)});
    out.open(true, "Result");
    out.key("y"), out.push(Ref<Tensor>(y));
    out.key("name"), out.push(Any::string(in[3].text));
    out.close();
  }));
}

void rich_inputs(Values& in, const Ref<Tensor>& x) {
  in.open(true, "");
  in.key("scale"), in.push(Any::real(0.1));
  in.key("x"), in.push(x);
  in.close();
  in.push(Any::integer(3)), in.push(Any::string("a \"name\"\n")), in.push(Any{});
}

TEST_F(Programs, are_loaded_with_the_same_bits_structure_and_constants) {
  auto f = make<Compiled>(context, rich(random({4, 3}, 2)), nullptr);
  Values in, wanted, out;
  rich_inputs(in, random({2, 4}, 1));
  ASSERT_EQ(call(*f, in, wanted), nullptr);
  auto g = again(*f);
  ASSERT_EQ(call(*g, in, out), nullptr);
  EXPECT_EQ(out.structure(), "Result{\"name\":*,\"y\":*}");
  EXPECT_EQ(out[0].text, "a \"name\"\n");
  EXPECT_EQ(data(*out[1].tensor), data(*wanted[1].tensor));
}

TEST_F(Programs, are_the_same_file_when_they_are_saved_again) {
  auto f = make<Compiled>(context, rich(random({4, 3}, 2)), nullptr);
  Values in, out;
  rich_inputs(in, random({2, 4}, 1));
  ASSERT_EQ(call(*f, in, out), nullptr);
  auto g = again(*f);
  const std::string first = read_file(folder / "f.thunder", 1 << 20);
  save_program(*g, folder / "again.thunder");
  EXPECT_EQ(read_file(folder / "again.thunder", 1 << 20), first);
}

TEST_F(Programs, refuse_a_call_that_none_was_made_for_and_say_what_differs) {
  auto f = make<Compiled>(context, rich(random({4, 3}, 2)), nullptr);
  auto x = random({2, 4}, 1);
  Values in, out;
  rich_inputs(in, x);
  ASSERT_EQ(call(*f, in, out), nullptr);
  auto g = again(*f);
  Values wide, other_number, other_scale, flat;
  rich_inputs(wide, random({5, 4}, 1));
  EXPECT_PRED2(contains, refusal(*g, wide), "f: the saved program does not fit: f: input '0.x' is f32[5, 4], the trace was made for f32[2, 4]");
  rich_inputs(other_number, x);
  other_number[2].i = 4;
  EXPECT_PRED2(contains, refusal(*g, other_number), "input 1 is 4, it was made for 3");
  rich_inputs(other_scale, x);
  other_scale[0].f = 0.2;
  EXPECT_PRED2(contains, refusal(*g, other_scale), "input 0.scale is 0.2, it was made for 0.1, which the function read as a number");
  flat.push(x);
  EXPECT_PRED2(contains, refusal(*g, flat), "the inputs' structure is *, it was made for {\"scale\":*,\"x\":*},*,*,*");
}

TEST_F(Programs, keep_floats_live_that_were_not_read_as_numbers) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), any(in[1].tensor)}))); });
  Values in, out;
  in.push(tensor({2}, {1, 2})), in.push(Any::real(2));
  ASSERT_EQ(call(*f, in, out), nullptr);
  auto g = again(*f);
  in[1].f = 5;
  ASSERT_EQ(call(*g, in, out), nullptr);
  EXPECT_EQ(data(*out[0].tensor), (Floats{5, 10}));
  EXPECT_EQ(g->reports().statistics().entries, 1u);
}

TEST_F(Programs, hold_each_of_several_programs_and_their_common_tensors_once) {
  auto cache = tensor({3}, {0, 0, 0});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    op(s, "add_", {any(cache), any(op(s, "sum", {any(in[0].tensor)}))});
    out.push(Ref<Tensor>(op(s, "sum", {any(cache)})));
  });
  auto two = tensor({2}, {1, 2}), three = tensor({3}, {1, 2, 3});
  EXPECT_EQ(run(*f, {two.get()}), (Floats{9}));
  EXPECT_EQ(run(*f, {three.get()}), (Floats{27}));
  auto g = again(*f);
  EXPECT_EQ(load_safetensors(folder / "f.thunder", default_allocator()).tensors.size(), 1u);
  EXPECT_EQ(run(*g, {two.get()}), (Floats{36})) << error;
  EXPECT_EQ(run(*g, {three.get()}), (Floats{54})) << error;
  EXPECT_EQ(data(*cache), (Floats{9, 9, 9}));  // the file has a copy of its own
}

TEST_F(Programs, tell_a_strided_argument_from_a_dense_one_where_both_were_saved) {
  // A reshape of a transpose is a copy, so the write stays there.
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const int64_t six = 6;
    op(s, "add_", {any(op(s, "reshape", {any(in[0].tensor), Any::dims({&six, 1})})), Any::real(1)});
    out.push(Ref<Tensor>(op(s, "clone", {any(in[0].tensor)})));
  });
  const auto strided = [&] {
    auto t = tensor({3, 2}, {1, 2, 3, 4, 5, 6});
    TensorType type = t->type();
    std::swap(type.shape[0], type.shape[1]);
    return Tensor::view(t->storage(), type, {1, 2}, 0);
  };
  auto dense = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run(*f, {dense.get()}), (Floats{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(run(*f, {strided().get()}), (Floats{1, 3, 5, 2, 4, 6}));
  auto g = again(*f);
  EXPECT_EQ(run(*g, {strided().get()}), (Floats{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(run(*g, {dense.get()}), (Floats{3, 4, 5, 6, 7, 8}));
}

TEST_F(Programs, draw_from_the_random_state_of_the_context_that_loads_them) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "dropout", {any(in[0].tensor)}))); });
  auto x = tensor({16}, Floats(16, 1));
  auto seed = [](Context& c) {
    auto* state = reinterpret_cast<int64_t*>(c.random()->data());
    state[0] = 9, state[1] = 0;
  };
  seed(*context);
  const Floats first = run(*f, {x.get()}), second = run(*f, {x.get()});
  save_program(*f, folder / "f.thunder");
  EXPECT_TRUE(load_safetensors(folder / "f.thunder", default_allocator()).tensors.empty());
  auto other = make<Context>(ContextHooks{});
  auto g = load(folder / "f.thunder", other);
  seed(*other);
  EXPECT_EQ(run(*g, {x.get()}), first) << error;
  EXPECT_EQ(run(*g, {x.get()}), second);
}

TEST_F(Programs, are_compiled_with_the_options_they_were_saved_with_unless_others_are_given) {
  auto options = only("host");
  options->set("float32_matmul_precision", Any::string("high"));
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}))); }, options.get());
  run(*f, {tensor({1}, {1}).get()});
  save_program(*f, folder / "f.thunder");
  EXPECT_EQ(load(folder / "f.thunder")->options().text("executors", ""), "host");
  auto mine = only("onednn");
  const LoadedProgram p = load_program(context, folder / "f.thunder", mine.get());
  EXPECT_EQ(p.options->text("executors", ""), "onednn");
  EXPECT_EQ(p.options->text("float32_matmul_precision", ""), "high");
}

TEST_F(Programs, are_not_saved_when_nothing_is_compiled_or_a_file_cannot_hold_them) {
  auto f = compile([](Scope&, const Values& in, Values& out) { out.push(in[0].tensor); });
  EXPECT_PRED2(contains, failure_of([&] { save_program(*f, folder / "f"); }), "cannot save f: nothing is compiled that could be saved");
  auto w = tensor({3}, {1, 2, 3});
  TensorType part = w->type();
  part.shape[0] = 2;
  auto tail = Tensor::view(w->storage(), part, {1}, 4);
  auto head = Tensor::view(w->storage(), part, {1}, 0);
  auto writes = compile([&](Scope& s, const Values& in, Values& out) {
    in.note_read(1);
    op(s, "add_", {any(in[1].i ? head : tail), Any::real(1)});
    out.push(in[0].tensor);
  });
  for (int which : {0, 1}) {
    Values in, out;
    in.push(w), in.push(Any::integer(which));
    in[0].tensor = tensor({1}, {1});
    ASSERT_EQ(writes->call(in, out), nullptr);
  }
  EXPECT_PRED2(contains, failure_of([&] { save_program(*writes, folder / "f"); }), "it writes a tensor that shares memory with 'constant#2'");
  EXPECT_EQ(folder.count(), 0u);
}

// The file that the tests of damage begin from: small, with a part of everything.
std::string small_file(CompiledTest& test, Folder& folder) {
  auto f = make<Compiled>(test.context, rich(test.tensor({1, 1}, {2})), nullptr);
  Values in, out;
  rich_inputs(in, test.tensor({1, 1}, {3}));
  EXPECT_EQ(f->call(in, out), nullptr);
  save_program(*f, folder / "small");
  return read_file(folder / "small", 1 << 20);
}

// Tensors that loading makes are no larger than the file, whatever it says.
TEST_F(Programs, survive_damage_at_every_byte) {
  size_t largest = 0;
  ContextHooks hooks;
  hooks.allocator.allocate = [](size_t bytes, size_t align, void* user) {
    auto* most = static_cast<size_t*>(user);
    *most = std::max(*most, bytes);
    return allocate_aligned(bytes, align);
  };
  hooks.allocator.deallocate = [](void* memory, size_t, size_t, void*) { deallocate_aligned(memory); };
  hooks.allocator.user = &largest;
  auto into = make<Context>(hooks);
  const std::string file = small_file(*this, folder);
  expect_survives_damage(file, [&](const std::string& path) {
    largest = 0;
    const LoadedProgram p = load_program(into, path, nullptr);
    EXPECT_LE(largest, 2 * file.size());
    EagerScope scope(into->scope_environment(), false);
    Values in;
    rich_inputs(in, tensor({1, 1}, {3}));
    apply(scope, *p.function, in);
  });
}

// A step of a decoder: the position is a live number, says where a part begins, and is compared; a captured tensor is
// written.
Ref<Function> decoder(const Ref<Tensor>& cache) {
  return Ref<Function>::adopt(new Lambda([cache](Scope& s, const Values& in, Values& out) {
    auto* scope = dynamic_cast<TracingScope*>(&s);
    const Dim n = scope && in[1].word ? scope->dim_of(in[1].word) : Dim(in[1].i);
    if (!in[1].word) in.note_read(1);
    const auto number = [&](Dim d) { return Any::integer(scope ? scope->word(d) : hint(d)); };
    const Any dim = Any::integer(0);
    Tensor* row = op(s, "slice", {any(cache), dim, number(n), number(n + 1), Any::integer(1)});
    op(s, "copy_", {any(row), any(op(s, "mul", {any(in[0].tensor), number(n + 1)}))});
    Tensor* total = op(s, "sum", {any(cache)});
    out.push(Ref<Tensor>(compare(n, DimCondition::Is::less, 100) ? total : op(s, "neg", {any(total)})));
  }));
}

void save_decoder(Programs& test, const std::string& path) {
  auto f = make<Compiled>(test.context, decoder(test.tensor({16, 2}, Floats(32, 0))), test.by_line().get());
  for (int64_t position : {2, 3, 4}) {
    Values in, out;
    in.push(test.tensor({1, 2}, {1, 2})), in.push(Any::integer(position));
    Status* failed = f->call(in, out);
    ASSERT_EQ(failed, nullptr) << failed->message();
  }
  save_program(*f, path);
}

void expect_decodes(Programs& test, Compiled& g) {
  float total = 3 * 3 + 3 * 4 + 3 * 5;
  for (int64_t position = 5; position < 16; position++) {
    Values in, out;
    in.push(test.tensor({1, 2}, {1, 2})), in.push(Any::integer(position));
    Status* failed = g.call(in, out);
    ASSERT_EQ(failed, nullptr) << failed->message();
    total += 3 * static_cast<float>(position + 1);
    EXPECT_EQ(test.data(*out[0].tensor), (Floats{total})) << position;
  }
  Values in;
  in.push(test.tensor({1, 2}, {1, 2})), in.push(Any::integer(100));
  EXPECT_NE(test.refusal(g, in), "no error");
}

TEST_F(Programs, whose_integers_stand_for_any_are_loaded_for_any) {
  save_decoder(*this, folder / "decoder.thunder");
  auto g = load(folder / "decoder.thunder");
  expect_decodes(*this, *g);
  save_program(*g, folder / "again.thunder");
  EXPECT_EQ(load_safetensors(folder / "again.thunder", default_allocator()).metadata,
            load_safetensors(folder / "decoder.thunder", default_allocator()).metadata);
}

TEST_F(Programs, keep_the_names_of_their_symbols) {
  save_decoder(*this, folder / "decoder.thunder");
  const SafeTensors saved = load_safetensors(folder / "decoder.thunder", default_allocator());
  const auto named = [&](const char* names) {
    Metadata metadata = saved.metadata;
    metadata.emplace_back("symbols.2", names);
    save_safetensors(folder / "named.thunder", saved.tensors, metadata);
    return load(folder / "named.thunder");
  };
  expect_decodes(*this, *named("[\"position\"]"));
  save_program(*named("[\"position\"]"), folder / "again.thunder");
  const Metadata again = load_safetensors(folder / "again.thunder", default_allocator()).metadata;
  EXPECT_NE(std::find(again.begin(), again.end(), std::pair<std::string, std::string>("symbols.2", "[\"position\"]")), again.end());
  EXPECT_PRED2(contains, failure_of([&] { named("[\"a\",\"b\"]"); }), "symbols.2: it names 2 symbols, the trace has 1");
  EXPECT_PRED2(contains, failure_of([&] { named("[1]"); }), "symbols.2: ");
}

TEST_F(Programs, of_version_2_are_read_for_ever) {
  const char* path = "golden/program_2.thunder";
  if (std::getenv("THUNDER_UPDATE_GOLDEN")) save_decoder(*this, path);
  const Metadata metadata = load_safetensors(path, default_allocator()).metadata;
  EXPECT_NE(std::find(metadata.begin(), metadata.end(), std::pair<std::string, std::string>("version", "2")),
            metadata.end());
  expect_decodes(*this, *load(path));
}

TEST_F(Programs, of_version_2_that_were_damaged_do_no_worse_than_fail) {
  save_decoder(*this, folder / "decoder.thunder");
  const std::string file = read_file(folder / "decoder.thunder", 1 << 20);
  auto into = make<Context>(ContextHooks{});
  expect_survives_damage(file, [&](const std::string& path) {
    const LoadedProgram p = load_program(into, path, nullptr);
    make<Compiled>(into, p.function, nullptr);
    EagerScope scope(into->scope_environment(), false);
    Values in;
    in.push(tensor({1, 2}, {1, 2})), in.push(Any::integer(7));
    apply(scope, *p.function, in);
  });
}

TEST_F(Programs, of_version_1_are_read_for_ever) {
  const char* path = "golden/program_1.thunder";
  if (std::getenv("THUNDER_UPDATE_GOLDEN")) write_file(path, small_file(*this, folder));
  auto g = load(path);
  Values in, out;
  rich_inputs(in, tensor({1, 1}, {3}));
  ASSERT_EQ(call(*g, in, out), nullptr);
  EXPECT_EQ(data(*out[1].tensor), (Floats{6 * 0.1f + 3}));
}

TEST_F(Programs, of_later_versions_and_other_files_are_refused_by_name) {
  Metadata metadata = {{"format", "thunder program"}, {"version", cat(kProgramFileVersion + 1)}};
  save_safetensors(folder / "later", {}, metadata);
  EXPECT_PRED2(contains, failure_of([&] { load(folder / "later"); }), 
               cat("later' is a program of version ", kProgramFileVersion + 1, "; this library reads those up to version ", kProgramFileVersion));
  EXPECT_EQ(code_of([&] { load(folder / "later"); }), Code::unimplemented);
  save_safetensors(folder / "weights", {}, {});
  EXPECT_PRED2(contains, failure_of([&] { load(folder / "weights"); }), "its metadata does not say \"format\": \"thunder program\"");
  EXPECT_EQ(code_of([&] { load(folder / "weights"); }), Code::data_lost);
  EXPECT_EQ(code_of([&] { load(folder / "nothing"); }), Code::not_found);
}

}  // namespace
}  // namespace thunder::test
