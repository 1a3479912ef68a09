// A tree of leaves: arguments, results, maps of parameters. Leaves in order, and a structure text such as
// [*,{"mask":*,"x":*}] whose map keys are in byte order.
#pragma once

#include <string>
#include <vector>

#include "tracer/any.h"

namespace thunder {

// Is told which leaves a traced function reads as plain numbers: those become guarded constants.
struct LeafReads {
  virtual ~LeafReads() = default;
  virtual void read_as_number(size_t leaf) = 0;
  // Live numbers of the program that are no leaves.
  virtual std::vector<Tensor*> numbers() { return {}; }
};

// An object that a function of the library returns beside tensors and constants. A program keeps it with its constants.
class Auxiliary : public Counted<Auxiliary> {
 public:
  virtual ~Auxiliary() = default;
};

struct Leaf {
  ArgKind kind = ArgKind::none;
  Ref<Tensor> tensor;
  int64_t i = 0;
  int64_t word = 0;  // of an integer that stands for any, in the function that is traced with it; 0: it is itself
  double f = 0;
  std::string text;               // a string
  std::vector<int64_t> ints;      // dims
  std::vector<double> reals;
  Ref<Tensor> bound;              // results: write into this tensor
  Ref<Auxiliary> auxiliary;       // of a leaf that is none of the others
};

class Values : public Counted<Values> {
 public:
  // Strings and lists are copied, tensors retained. A list of tensors opens a group of leaves.
  void push(const Any&);
  void push(Ref<Tensor>);
  void key(std::string_view name);
  void open(bool map, std::string_view type_tag);
  void close();
  void reset();
  // Replaces everything by leaves with a structure text that fits them.
  void assign(std::vector<Leaf> leaves, std::string_view structure);
  void assign(const Values& other) { assign(other.leaves_, other.structure_); }
  void set_tensor(size_t leaf, Ref<Tensor>);
  void bind(size_t leaf, Ref<Tensor>);

  size_t size() const { return leaves_.size(); }
  const Leaf& operator[](size_t i) const { return leaves_[i]; }
  Leaf& operator[](size_t i) { return leaves_[i]; }
  // Requires: no group is open.
  const std::string& structure() const { return structure_; }
  // "1.mask", list positions from 0; SIZE_MAX when no leaf has this path.
  size_t find(std::string_view path) const;
  // "1.mask" for each leaf, in order.
  std::vector<std::string> paths() const;
  // One path, valid until the next change; null if there is no such leaf.
  const char* path(size_t leaf) const;
  // The leaf as a tensor, kept by these values: a number as one that promotes by category, anything else as a failed
  // one that says so. Never null.
  Tensor* tensor(size_t leaf) const;
  bool complete() const { return open_.empty(); }

  // The first error in how it was built (unbalanced groups, a key in a list).
  const Ref<Status>& status() const { return status_; }
  void fail(std::string message);
  void fail(Ref<Status> status);

  // Somebody else owns them, a scope or the call that gives them to a callback: that reference is not the callback's to
  // release.
  bool lent = false;
  LeafReads* reads = nullptr;  // set while a traced function sees these values
  // Called with a leaf that was read as a number.
  void note_read(size_t leaf) const {
    if (reads) reads->read_as_number(leaf);
  }

 private:
  struct Child {
    std::string key, structure;
    size_t first;  // its first leaf
  };
  struct Group {
    bool map = false;
    std::string tag;
    std::vector<Child> children;
    std::string own_key;
  };
  void add_child(std::string structure, size_t first_leaf);
  std::string join_group(Group& g);
  std::string take_key(bool map);

  std::vector<Leaf> leaves_;
  std::string structure_;
  std::vector<Group> open_;
  std::string key_;
  bool has_key_ = false;
  Ref<Status> status_;
  mutable std::string path_;
  mutable std::vector<Ref<Tensor>> made_;  // what `tensor` made: handles that it gave out stay valid
};

}  // namespace thunder
