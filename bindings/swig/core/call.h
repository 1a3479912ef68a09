// One call of the library: a language fills it with arguments, performs one action, and reads the results or the
// failure. Nothing is thrown across the boundary and nothing is kept by thread, so that one text serves languages whose
// exceptions, threads and collectors differ.
#pragma once
#include <memory>
#include <string>

#include "classes.h"
#ifndef SWIG
#include "items.h"
#include "nested.h"
#endif

namespace thunder_swig {

// What next() finds.
enum Kind { ITEM_END, ITEM_NONE, ITEM_BOOLEAN, ITEM_INTEGER, ITEM_REAL, ITEM_TEXT, ITEM_TENSOR, ITEM_LIST, ITEM_MAP, ITEM_CLOSE };

class Call {
 public:
  Call();
  ~Call();
  void reset();  // as new

  // ---- filling: leaves, and lists and maps of them; in a map, or for a named argument, key() comes first ----
  void none();
  void flag(bool value);
  void integer(long long value);
  void real(double value);
  void text(const char* value);
  void tensor(const Tensor& value);
  void key(const char* name);
  void open_list();
  void open_map();
  void close();
  void open_elements();  // what follows is one value: a number, or nested lists of them, for make_tensor()

  // ---- reading: next() moves to the next item, the others look at it ----
  int next();
  std::string name() const;  // its key
  long long as_integer() const;  // also of a boolean
  double as_real() const;
  std::string as_text() const;
  Tensor* as_tensor() const;  // owned
  Bytes data() const;         // what read() read

  // ---- the failure of the action ----
  bool failed() const;
  int code() const;
  std::string message() const;
  long long ticket() const;  // of the exception that a callback raised; 0: none

  // ---- in a callback: what it was given is there to be read, its results are filled in ----
  void fail(const char* message, long long ticket);

  // ---- actions: false, or nothing, when they fail ----
  bool create(const char* dtype, const Bytes& data);  // items: the shape
  // Takes the value after open_elements(). dtype "": bool, i64 or f32, by its elements. Items: its shape, or none.
  bool make_tensor(const char* dtype);
  bool tensor_text(const Tensor& tensor);  // as PyTorch prints it
  bool read(const Tensor& tensor);
  bool write(const Tensor& tensor, const Bytes& data);
  bool op(const char* name, const char* where);
  Function* make_function(const char* name, long long ticket);
  Function* value_and_grad(const Compiled& compiled, const char* wrt);  // items: captured tensors, or none
  Compiled* compile(const Function& function);                          // items: options by name
  bool call(const Compiled& compiled);
  // Those of bindings/classes.api; what the table calls `core` is in actions.cpp, models.cpp, training.cpp and extend.cpp.
  THUNDER_ACTIONS
  // An op by its schema, from what it is made of; vjp: of (arguments, results, cotangents, which are wanted), a gradient for
  // each argument, or 0 for that of what it is made of. Both by ticket, and for ever.
  bool add_op(const char* schema, const char* doc, long long decompose, long long vjp);

#ifndef SWIG
  Items& items() { return items_; }
  thunder_status* status() const { return status_; }
  void set_failure(thunder_status* stolen);

 private:
  template <class Action>
  bool perform(Action action);
  Call(const Call&) = delete;
  Items items_;
  std::unique_ptr<Nested> elements_;  // while they are filled in
  std::string key_, data_;
  size_t at_ = 0;  // one behind the current item
  thunder_status* status_ = nullptr;
#endif
};

// Whether ops are being traced here, so that a place is worth its cost.
bool is_tracing();
std::string version();

}  // namespace thunder_swig
