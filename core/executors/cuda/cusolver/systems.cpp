// solve, triangular_solve, det and slogdet.
#include "executors/cuda/cusolver/matrix_node.h"
#include "ir/prim.h"

namespace thunder::cusolver {
namespace {

// L and U of the transposes of matrices, in `lu`.
template <class T>
class Factored : public MatrixNode<T> {
 public:
  template <class K>
  Factored(const K* self, Session& session, const NodeView& view, Refusal refusal)
      : MatrixNode<T>(self, session, view, refusal) {
    if (this->is_batched() || !this->in_.all_elements()) return;
    size_ = this->query_workspace(
        [&](int* size) {
          return this->solver().getrf_size(this->handle(), this->rows(), this->rows(), nullptr, this->rows(), size);
        },
        "cusolverDnXgetrf_bufferSize");
  }

 protected:
  struct Areas {
    Areas(Pieces& p, const Factored& f)
        : lu(p.take<T>(f.in_.all_elements())), work(p.take<T>(f.size_)), pivots(p.take<int>(f.in_.batch * f.in_.rows)),
          info(p.take<int>(f.in_.batch)), each(p.take<T*>(f.in_.batch)) {}
    T *lu, *work;
    int *pivots, *info;
    T** each;
  };
  Status* factor(const T* from, const Areas& a) const {
    const int n = this->rows();
    if (Status* failed = this->copy(from, a.lu, this->in_.all_elements())) return failed;
    if (this->is_batched()) {
      if (Status* failed = this->kernels_->fill_pointers(a.each, a.lu, this->in_.batch, this->in_.elements()))
        return failed;
      return this->status(
          this->blas().getrf_batched(this->session_.blas(), n, a.each, n, a.pivots, a.info, this->batch()),
          "cublasXgetrfBatched");
    }
    return this->for_each_matrix("cusolverDnXgetrf", [&](int64_t i) {
      return this->solver().getrf(this->handle(), n, n, a.lu + i * this->in_.elements(), n, a.work, a.pivots + i * n,
                                  a.info + i);
    });
  }

 private:
  int size_ = 0;
};

// solve(input, other, adjoint, check_errors)
template <class T>
class Solve : public Factored<T> {
 public:
  Solve(Session& session, const NodeView& view)
      : Factored<T>(this, session, view,
                    view.node.args[3].i ? [](int64_t) { return std::string("the matrix is singular"); } : Refusal()),
        adjoint_(view.node.args[2].i != 0), sides_(view.store.type(view.node.args[1].v)) {
    this->template reserve_scratch<Areas>(*this);
  }

  Status* run(const Launch* l) const {
    if (!this->in_.all_elements() || !sides_.all_elements()) return nullptr;
    Pieces pieces(l->scratch);
    const Areas a(pieces, *this);
    return this->run_with_library([&]() -> Status* {
      if (Status* failed = this->factor(l->inputs[0].template as<T>(), a)) return failed;
      if (this->assertion_)
        if (Status* failed = this->kernels_->check_info(a.info, this->in_.batch, this->assertion_)) return failed;
      T* const out = l->outputs[0].template as<T>();
      // The libraries want columns; a single one is a column already.
      const bool transposed = sides_.columns > 1;
      T* const sides = transposed ? a.sides : out;
      Status* failed = transposed ? this->kernels_->transpose(l->inputs[1].data, sides_.elements(), sides,
                                                          sides_.elements(), sides_.batch, sides_.rows, sides_.columns)
                              : this->copy(l->inputs[1].template as<T>(), sides, sides_.all_elements());
      if (failed || (failed = solve(a, sides)) || !transposed) return failed;
      return this->kernels_->transpose(sides, sides_.elements(), out, sides_.elements(), sides_.batch, sides_.columns,
                                       sides_.rows);
    });
  }

 private:
  struct Areas : Factored<T>::Areas {
    Areas(Pieces& p, const Solve& s)
        : Factored<T>::Areas(p, s), sides(p.take<T>(s.sides_.columns > 1 ? s.sides_.all_elements() : 0)),
          each_sides(p.take<T*>(s.sides_.batch)) {}
    T* sides;
    T** each_sides;
  };
  Status* solve(const Areas& a, T* sides) const {
    const int n = this->rows(), columns = static_cast<int>(sides_.columns);
    const int operation = adjoint_ ? kNone : kTransposed;  // of the transpose
    if (!this->is_batched())
      return this->for_each_matrix("cusolverDnXgetrs", [&](int64_t i) {
        return this->solver().getrs(this->handle(), operation, n, columns, a.lu + i * this->in_.elements(), n,
                                    a.pivots + i * n, sides + i * sides_.elements(), n, a.info + i);
      });
    if (Status* failed = this->kernels_->fill_pointers(a.each_sides, sides, sides_.batch, sides_.elements()))
      return failed;
    int wrong = 0;
    return this->status(this->blas().getrs_batched(this->session_.blas(), operation, n, columns, a.each, n, a.pivots,
                                                   a.each_sides, n, &wrong, this->batch()),
                        "cublasXgetrsBatched");
  }

  const bool adjoint_;
  const Matrices sides_;
};

// det(input), slogdet(input)
template <class T>
class Determinant : public Factored<T> {
 public:
  Determinant(Session& session, const NodeView& view) : Factored<T>(this, session, view, nullptr) {
    this->template reserve_scratch<typename Factored<T>::Areas>(*this);
  }
  Status* run(const Launch* l) const {
    Pieces pieces(l->scratch);
    const typename Factored<T>::Areas a(pieces, *this);
    return this->run_with_library([&]() -> Status* {
      if (this->in_.all_elements())
        if (Status* failed = this->factor(l->inputs[0].template as<T>(), a)) return failed;
      return this->kernels_->determinants(a.lu, a.pivots, l->outputs[0].data,
                                          l->n_outputs > 1 ? l->outputs[1].data : nullptr, this->in_.batch,
                                          this->in_.rows);
    });
  }
};

// triangular_solve(input, other, upper, transposed, unitriangular): of the transposes, X^T op(T)^T = other^T.
template <class T>
class TriangularSolve : public MatrixNode<T> {
 public:
  TriangularSolve(Session& session, const NodeView& view)
      : MatrixNode<T>(this, session, view,
                      view.node.args[4].i ? Refusal() : [](int64_t index) {
                        return cat("the triangle is singular: element ", index, " of its diagonal is zero");
                      }),
        fill_(view.node.args[2].i ? kLower : kUpper), operation_(view.node.args[3].i ? kTransposed : kNone),
        diagonal_(view.node.args[4].i ? kUnit : kNonUnit), sides_(view.store.type(view.node.args[1].v)) {
    if (this->is_batched()) this->scratch_ = pointers().bytes();
  }
  Status* run(const Launch* l) const {
    if (!sides_.all_elements()) return nullptr;
    const T *in = l->inputs[0].template as<T>(), one = 1;
    T* const out = l->outputs[0].template as<T>();
    const int n = this->rows(), columns = static_cast<int>(sides_.columns);
    return this->run_with_library([&]() -> Status* {
      if (this->assertion_)
        if (Status* failed = this->kernels_->check_diagonal(in, this->in_.batch, n, this->assertion_)) return failed;
      if (Status* failed = this->copy(l->inputs[1].template as<T>(), out, sides_.all_elements())) return failed;
      const BlasHandle blas = this->session_.blas();
      if (!this->is_batched())
        return this->for_each_matrix("cublasXtrsm", [&](int64_t i) {
          return this->blas().trsm(blas, kRight, fill_, operation_, diagonal_, columns, n, &one,
                                   in + i * this->in_.elements(), n, out + i * sides_.elements(), columns);
        });
      Pieces pieces(l->scratch);
      T **const each = pieces.take<T*>(this->in_.batch), **const each_sides = pieces.take<T*>(this->in_.batch);
      if (Status* failed = this->kernels_->fill_pointers(each, in, this->in_.batch, this->in_.elements()))
        return failed;
      if (Status* failed = this->kernels_->fill_pointers(each_sides, out, sides_.batch, sides_.elements()))
        return failed;
      return this->status(this->blas().trsm_batched(blas, kRight, fill_, operation_, diagonal_, columns, n, &one, each,
                                                    n, each_sides, columns, this->batch()),
                          "cublasXtrsmBatched");
    });
  }

 private:
  Pieces pointers() const {
    Pieces pieces;
    pieces.take<T*>(this->in_.batch), pieces.take<T*>(this->in_.batch);
    return pieces;
  }
  const int fill_, operation_, diagonal_;
  const Matrices sides_;
};

}  // namespace

KernelPtr prepare_system(Session& session, const NodeView& view) {
  const Prim op = view.node.op->id;
  if (op == Prim::solve) return make_for_dtype<Solve>(session, view);
  if (op == Prim::triangular_solve) return make_for_dtype<TriangularSolve>(session, view);
  return op == Prim::det || op == Prim::slogdet ? make_for_dtype<Determinant>(session, view) : nullptr;
}

}  // namespace thunder::cusolver
