// Gradients of functions that read values: what was computed before a break counts. Also of segment_history.
// covers: core/tracer/segment_gradient.cpp
#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct SegmentGradients : CompiledTest {
  Ref<Compiled> with(bool fullgraph, Ref<Function> f) {
    auto options = by_line();
    options->set("fullgraph", Any::boolean(fullgraph));
    return make<Compiled>(context, std::move(f), options.get());
  }
  static Ref<Function> lambda(Lambda::Body body) { return Ref<Function>::adopt(new Lambda(std::move(body))); }
  static float item(Tensor* t) {
    EXPECT_TRUE(t->concrete() || t->owner()->give_data(*t, nullptr));
    return *reinterpret_cast<const float*>(t->data());
  }
  static Tensor* total(Scope& s, Tensor* x) { return op(s, "sum", {any(x)}); }
  static Tensor* grad(Scope& s, Tensor* loss, Tensor* x) {
    Values wrt;
    wrt.push(Ref<Tensor>(x));
    return (*s.grad(loss, wrt))[0].tensor.get();
  }
  // All results of f, which must be equal with and without breaks; the first is a loss.
  std::vector<Floats> both(const std::function<Lambda::Body(bool reads)>& body, std::vector<Tensor*> in, size_t results) {
    std::vector<Floats> out[2];
    for (bool reads : {false, true}) {
      auto f = with(!reads, lambda(body(reads)));
      for (int call = 0; call < 2; call++) {
        std::vector<Tensor*> made(results);
        Status* failed = f->call_tensors(in.data(), in.size(), made.data(), results);
        EXPECT_EQ(failed, nullptr) << failed->message();
        if (failed) return {};
        out[reads].clear();
        for (Tensor* t : made) out[reads].push_back(data(*Ref<Tensor>::adopt(t)));
      }
      EXPECT_EQ(f->reports().statistics().segments > 0, reads);
    }
    EXPECT_EQ(out[0], out[1]);
    return out[1];
  }
};

TEST_F(SegmentGradients, reach_back_over_breaks) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      Tensor *x = in[0].tensor.get(), *w = in[1].tensor.get();
      Tensor* h = op(s, "tanh", {any(op(s, "mul", {any(x), any(w)}))});
      EXPECT_TRUE(!reads || item(total(s, h)) != 0);
      Tensor* g = op(s, "exp", {any(op(s, "mul", {any(h), any(w)}))});
      EXPECT_TRUE(!reads || item(total(s, g)) != 0);
      Tensor* loss = total(s, op(s, "mul", {any(g), any(h)}));
      out.push(Ref<Tensor>(loss));
      out.push(Ref<Tensor>(grad(s, loss, w)));
      out.push(Ref<Tensor>(grad(s, loss, h)));
    };
  };
  both(body, {tensor({3}, {1, 2, -1}).get(), tensor({3}, {0.5f, 0.25f, 2}).get()}, 3);
}

TEST_F(SegmentGradients, of_a_function_that_breaks_are_those_of_a_whole_one) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      Tensor* y = in[0].tensor.get();
      for (int i = 0; i < 4; i++) {
        y = op(s, "sin", {any(op(s, "mul", {any(y), any(in[0].tensor)}))});
        if (reads) item(y);
      }
      out.push(Ref<Tensor>(total(s, y)));
    };
  };
  auto x = tensor({2}, {0.7f, -0.3f});
  std::vector<Floats> made[2];
  for (bool reads : {false, true}) {
    auto f = with(!reads, value_and_grad(lambda(body(reads)), "", {}));
    Tensor* in[] = {x.get()};
    Tensor* out[2] = {};
    Status* failed = f->call_tensors(in, 1, out, 2);
    ASSERT_EQ(failed, nullptr) << failed->message();
    for (Tensor* t : out) made[reads].push_back(data(*Ref<Tensor>::adopt(t)));
  }
  EXPECT_EQ(made[0], made[1]);
}

// A loop of training: parameters are written between the breaks, and each gradient is by what they are by then.
TEST_F(SegmentGradients, follow_parameters_that_are_written) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      Tensor *x = in[0].tensor.get(), *w = op(s, "clone", {any(in[1].tensor)}), *loss = nullptr;
      for (int i = 0; i < 3; i++) {
        Tensor* y = op(s, "mul", {any(x), any(w)});
        loss = total(s, op(s, "mul", {any(y), any(y)}));
        EXPECT_TRUE(!reads || item(loss) > 0);
        Tensor* g = grad(s, loss, w);
        op(s, "sub_", {any(w), any(op(s, "mul", {any(g), Any::real(0.01)}))});
        if (reads) item(w);
      }
      out.push(Ref<Tensor>(loss));
      out.push(Ref<Tensor>(w));
    };
  };
  both(body, {tensor({2}, {1, 2}).get(), tensor({2}, {3, 4}).get()}, 2);
}

TEST_F(SegmentGradients, use_the_random_numbers_that_were_drawn) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      Tensor* x = in[0].tensor.get();
      Tensor* y = op(s, "dropout", {any(x), Any::real(0.5), Any::boolean(true)});
      Tensor* z = op(s, "mul", {any(y), any(op(s, "rand_like", {any(y)}))});
      if (reads) item(z);
      Tensor* loss = total(s, op(s, "mul", {any(z), any(z)}));
      out.push(Ref<Tensor>(loss));
      out.push(Ref<Tensor>(grad(s, loss, x)));
      out.push(Ref<Tensor>(y));
    };
  };
  auto x = tensor({8}, {1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<Floats> made[2];
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  for (bool reads : {false, true}) {
    state[1] = 7;
    auto f = with(!reads, lambda(body(reads)));
    Tensor* in[] = {x.get()};
    Tensor* out[3] = {};
    Status* failed = f->call_tensors(in, 1, out, 3);
    ASSERT_EQ(failed, nullptr) << failed->message();
    for (Tensor* t : out) made[reads].push_back(data(*Ref<Tensor>::adopt(t)));
    EXPECT_EQ(state[1], 9) << "two draws";
  }
  EXPECT_EQ(made[0], made[1]);
}

TEST_F(SegmentGradients, of_gradients_cross_a_break) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      Tensor* x = in[0].tensor.get();
      Tensor* first = grad(s, total(s, op(s, "mul", {any(op(s, "mul", {any(x), any(x)})), any(x)})), x);
      EXPECT_TRUE(!reads || item(first) == 3);
      Tensor* again = total(s, op(s, "mul", {any(first), any(x)}));
      out.push(Ref<Tensor>(again));
      out.push(Ref<Tensor>(grad(s, again, x)));
    };
  };
  EXPECT_EQ(both(body, {tensor({2}, {1, 2}).get()}, 2)[1], (Floats{9, 36}));
}

TEST_F(SegmentGradients, by_a_view_reach_back_over_breaks) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      const int64_t flat[] = {4}, square[] = {2, 2};
      Tensor* x = op(s, "reshape", {any(in[0].tensor), Any::dims(flat)});
      Tensor* y = op(s, "mul", {any(x), any(op(s, "reshape", {any(op(s, "reshape", {any(x), Any::dims(square)})), Any::dims(flat)}))});
      if (reads) item(total(s, y));
      Tensor* z = op(s, "exp", {any(op(s, "mul", {any(y), any(x)}))});
      if (reads) item(total(s, z));
      Tensor* loss = total(s, op(s, "mul", {any(z), any(x)}));
      out.push(Ref<Tensor>(loss));
      out.push(Ref<Tensor>(grad(s, loss, x)));
    };
  };
  both(body, {tensor({2, 2}, {0.1f, 0.2f, 0.3f, 0.4f}).get()}, 2);
}

// As a transform hands an argument on: a view of its own, of which the function takes views.
TEST_F(SegmentGradients, by_what_a_view_was_taken_of_cross_a_break) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      const int64_t order[] = {0, 1}, flat[] = {4};
      Tensor* x = op(s, "permute", {any(in[0].tensor), Any::dims(order)});
      Tensor* v = op(s, "select", {any(op(s, "reshape", {any(x), Any::dims(flat)})), Any::integer(0), Any::integer(2)});
      EXPECT_TRUE(!reads || item(total(s, x)) != 0);
      Tensor* w = op(s, "mul", {any(v), any(v)});
      EXPECT_TRUE(!reads || item(total(s, w)) != 0);
      Tensor* loss = total(s, op(s, "mul", {any(v), any(w)}));
      out.push(Ref<Tensor>(loss));
      out.push(Ref<Tensor>(grad(s, loss, x)));
    };
  };
  EXPECT_EQ(both(body, {tensor({2, 2}, {1, 2, 3, 4}).get()}, 2)[1], (Floats{0, 0, 27, 0}));
}

// The views of a view that was taken again, after a write or a break, are views of the one that was taken first.
TEST_F(SegmentGradients, by_a_view_reach_its_views_taken_between_writes) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      const int64_t column[] = {2, 1};
      Tensor* own = op(s, "clone", {any(in[0].tensor)});
      Tensor* x = op(s, "t", {any(own)});
      op(s, "mul_", {any(own), Any::real(2)});
      Tensor* row = op(s, "select", {any(x), Any::integer(0), Any::integer(0)});
      op(s, "add_", {any(own), Any::real(1)});
      Tensor* seen = op(s, "reshape", {any(row), Any::dims(column)});
      EXPECT_TRUE(!reads || item(total(s, own)) != 0);
      Tensor* loss = op(s, "add", {any(total(s, op(s, "mul", {any(row), any(row)}))), any(total(s, op(s, "mul", {any(seen), any(x)})))});
      EXPECT_TRUE(!reads || item(loss) != 0);
      out.push(Ref<Tensor>(loss));
      out.push(Ref<Tensor>(grad(s, loss, x)));
    };
  };
  // x is {{3, 7}, {5, 9}}: twice its first row, the sums of x's rows, and that row along the columns.
  EXPECT_EQ(both(body, {tensor({2, 2}, {1, 2, 3, 4}).get()}, 2)[1], (Floats{6 + 10 + 3, 14 + 14 + 3, 7, 7}));
}

TEST_F(SegmentGradients, by_a_view_that_was_written_are_by_what_it_is_now) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      const int64_t order[] = {1, 0};
      Tensor* own = op(s, "clone", {any(in[0].tensor)});
      Tensor* x = op(s, "permute", {any(own), Any::dims(order)});
      op(s, "mul_", {any(own), Any::real(2)});
      Tensor* row = op(s, "select", {any(x), Any::integer(0), Any::integer(0)});
      Tensor* y = op(s, "mul", {any(x), any(x)});
      EXPECT_TRUE(!reads || item(total(s, y)) != 0);
      Tensor* loss = op(s, "add", {any(total(s, y)), any(total(s, op(s, "exp", {any(row)})))});
      out.push(Ref<Tensor>(loss));
      out.push(Ref<Tensor>(grad(s, loss, x)));
    };
  };
  both(body, {tensor({2, 2}, {0.5f, 0, 0.25f, 1}).get()}, 2);
}

// A gradient records again what earlier parts computed: that is what they computed, for the gradient of it.
TEST_F(SegmentGradients, of_gradients_are_by_what_was_recorded_again) {
  const auto body = [](bool reads) {
    return [reads](Scope& s, const Values& in, Values& out) {
      Tensor *x = in[0].tensor.get(), *h = op(s, "mul", {any(x), any(x)});
      EXPECT_TRUE(!reads || item(total(s, h)) != 0);
      Tensor* loss = total(s, op(s, "mul", {any(op(s, "mul", {any(h), any(h)})), any(x)}));
      Values wrt;
      wrt.push(Ref<Tensor>(x)), wrt.push(Ref<Tensor>(h));
      Values* first = s.grad(loss, wrt);
      Tensor* again = total(s, op(s, "mul", {any((*first)[0].tensor), any((*first)[1].tensor)}));
      out.push(Ref<Tensor>(again));
      out.push(Ref<Tensor>(grad(s, again, h)));
      if (reads) item(again);
      out.push(Ref<Tensor>(grad(s, again, h)));
      out.push(Ref<Tensor>(grad(s, again, x)));
    };
  };
  both(body, {tensor({2}, {1, 2}).get()}, 4);
}

TEST_F(SegmentGradients, are_refused_where_wrt_was_written_after_its_use) {
  for (bool view : {false, true}) {
    auto f = with(false, lambda([&](Scope& s, const Values& in, Values& out) {
      const int64_t order[] = {0};
      Tensor* own = op(s, "clone", {any(in[0].tensor)});
      Tensor* x = view ? op(s, "permute", {any(own), Any::dims(order)}) : own;
      Tensor* y = op(s, "mul", {any(x), any(x)});
      item(total(s, y));
      op(s, "mul_", {any(own), Any::real(2)});
      item(total(s, own));
      out.push(Ref<Tensor>(grad(s, total(s, y), x)));
    }));
    EXPECT_TRUE(run(*f, {tensor({2}, {1, 2}).get()}).empty());
    EXPECT_PRED2(contains, error, "was written in place after the loss had used it");
  }
}

TEST_F(SegmentGradients, are_refused_where_what_they_need_was_overwritten) {
  auto factor = tensor({2}, {2, 2});
  auto f = with(false, lambda([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "mul", {any(op(s, "mul", {any(x), any(x)})), any(factor)});
    op(s, "add_", {any(factor), Any::real(1)});
    item(y);
    out.push(Ref<Tensor>(grad(s, total(s, y), x)));
  }));
  EXPECT_TRUE(run(*f, {tensor({2}, {1, 2}).get()}).empty());
  EXPECT_PRED2(contains, error, "grad: the function broke between wrt and the loss");
  EXPECT_PRED2(contains, error, "was written in place since");
}

}  // namespace
}  // namespace thunder::test
