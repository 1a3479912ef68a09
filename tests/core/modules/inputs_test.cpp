// What a forward is given: by position, by name, refused.
#include "modules/inputs.h"

#include "fixture.h"

namespace thunder {
namespace {

// Adds what it is given: x + (y or 1), negated where asked.
void add_all(ModuleCall& c) {
  ModuleInputs in(c);
  Tensor* y = in.tensor("y");
  Tensor* sum = y ? c.op("add", {in.tensor("x"), y}) : c.op("add", {in.tensor("x"), 1.0});
  c.give(in.flag("negated") ? c.op("neg", {sum}) : sum);
}

struct Inputs : Modules {
  Inputs() {
    context->module_kinds().add({.schema = "Adder() -> tensor",
                                 .doc = "A test's own.",
                                 .inputs = "Adder(tensor x, tensor? y=None, bool negated=False) -> tensor",
                                 .forward = add_all});
    adder = module("Adder");
  }
  // The sums, and misses of the compiled module after each call.
  Floats call(const std::function<void(Values&)>& give) {
    Values in, out;
    give(in);
    auto failed = f->call(in, out);
    error = failed ? failed->message() : "";
    return failed ? Floats{} : floats(*out[0].tensor);
  }
  Ref<Tensor> one = tensor({2}, {1, 2}), two = tensor({2}, {10, 20});
  Ref<Module> adder;
  Ref<Compiled> f;
};

TEST_F(Inputs, come_by_position_and_by_name) {
  f = compile(adder);
  EXPECT_EQ(call([&](Values& in) { in.push(one); }), (Floats{2, 3}));
  EXPECT_EQ(call([&](Values& in) { in.push(one), in.push(two); }), (Floats{11, 22}));
  EXPECT_EQ(call([&](Values& in) {
              in.push(one);
              in.open(true, {});
              in.key("y"), in.push(two);
              in.key("negated"), in.push(Any::boolean(true));
              in.close();
            }),
            (Floats{-11, -22}));
  EXPECT_EQ(call([&](Values& in) { in.push(one), in.push(Any()), in.push(Any::boolean(true)); }), (Floats{-2, -3}));
}

TEST_F(Inputs, that_are_no_tensors_are_guarded) {
  f = compile(adder);
  for (int i = 0; i < 3; i++)
    for (bool negated : {false, true}) {
      const Floats is = call([&](Values& in) { in.push(one), in.push(two), in.push(Any::boolean(negated)); });
      EXPECT_EQ(is, negated ? (Floats{-11, -22}) : (Floats{11, 22}));
    }
  EXPECT_EQ(f->reports().statistics().misses, 2u);
}

TEST_F(Inputs, are_refused_as_arguments_of_ops_are) {
  f = compile(adder);
  const auto refused = [&](const std::function<void(Values&)>& give, std::string_view piece) {
    call(give);
    EXPECT_NE(error.find(piece), std::string::npos) << error;
  };
  refused([&](Values&) {}, "Adder: argument 'x' is missing");
  refused([&](Values& in) { in.push(one), in.push(two), in.push(Any::boolean(false)), in.push(one); },
          "at most 3 arguments, got 4");
  refused([&](Values& in) { in.push(one), in.push(two), in.push(Any::integer(1)); },
          "'negated' must be bool, got the integer 1");
  refused([&](Values& in) { in.push(one), in.push(Any::integer(1)); }, "'y' must be a tensor or None, got the integer 1");
  refused(
      [&](Values& in) {
        in.push(one);
        in.open(true, {});
        in.key("negatde"), in.push(Any::boolean(true));
        in.close();
      },
      "unknown argument 'negatde' (did you mean 'negated'?)");
}

}  // namespace
}  // namespace thunder
