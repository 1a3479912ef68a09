// A builder that records nodes: used by tracing scopes, the gradient and every rewriting pass.
#pragma once

#include "ops/builder.h"

namespace thunder {

// Thrown when an op that is being recorded reads an integer that is not known: its result's shape depends on values.
class UnknownInteger : public Error {
 public:
  using Error::Error;
};

class Recorder : public Builder {
 public:
  Recorder(const Registry& registry, std::shared_ptr<Store> store);

  const TensorType& type(ValueId v) const override { return store_->type(v); }
  // Passes re-record random prims with the state and ordinal they have; only scopes can draw anew.
  Draw draw() override;
  // The one place where an op is refused whose result's shape depends on values: throws UnknownInteger, unless its
  // answer is known.
  int64_t read_integer(ValueId v, const OpDef& op) override;
  // The answers to the next recorded ops, in order.
  void set_integers(std::vector<int64_t> answers) { integers_ = std::move(answers), next_integer_ = 0; }

  Store& store() { return *store_; }
  const std::shared_ptr<Store>& shared_store() const { return store_; }
  // The nodes recorded so far. Requires: outside of any composite.
  std::vector<const Node*>& nodes() { return nodes_; }
  // How many values there are.
  virtual size_t values() const { return store_->size(); }
  void set_where(const char* where) { where_ = where; }
  const char* where() const { return where_; }

 protected:
  Results prim(const OpDef& op, std::span<const Arg> args, const Types& types) override;
  void enter(const OpDef& op) override;
  Results leave(const OpDef& op, std::span<const Arg> args, const Results& results) override;
  void abandon() override;
  // Whether a decomposition whose inside began with value `first` may become one line.
  virtual bool closes(std::span<const ValueId> /*results*/, ValueId /*first*/) { return true; }
  // Sees each prim as it is recorded.
  virtual void recorded(const Node&) {}
  // From here on types are those of this store. Requires: it has the values of the one before.
  void use_store(std::shared_ptr<Store> store) { store_ = std::move(store); }

 private:
  // A composite that is being decomposed.
  struct Frame {
    size_t begin;   // its nodes are those of nodes_ from here on
    ValueId first;  // values made inside have this id or a higher one
  };
  std::shared_ptr<Store> store_;
  std::vector<const Node*> nodes_;
  std::vector<Frame> frames_;
  const char* where_ = nullptr;
  std::vector<int64_t> integers_;
  size_t next_integer_ = 0;
};

}  // namespace thunder
