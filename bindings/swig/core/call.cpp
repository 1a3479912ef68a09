// Filling and reading a call, and what it says about its failure.
#include "call.h"

#include "scope.h"

namespace thunder_swig {

Call::Call() = default;
Call::~Call() { thunder_status_release(status_); }

void Call::reset() {
  items_.clear(), key_.clear(), data_.clear(), elements_.reset();
  at_ = 0;
  thunder_status_release(status_);
  status_ = nullptr;
}

static Item& add(Items& items, std::string& key, int kind) {
  items.push_back({kind, key, "", 0, 0, {}});
  key.clear();
  return items.back();
}

void Call::none() {
  if (elements_) return elements_->note_non_number("nothing");
  add(items_, key_, ITEM_NONE);
}
void Call::flag(bool value) {
  if (elements_) return elements_->flag(value);
  add(items_, key_, ITEM_BOOLEAN).integer = value;
}
void Call::integer(long long value) {
  if (elements_) return elements_->integer(value);
  add(items_, key_, ITEM_INTEGER).integer = value;
}
void Call::real(double value) {
  if (elements_) return elements_->real(value);
  add(items_, key_, ITEM_REAL).real = value;
}
void Call::text(const char* value) {
  if (elements_) return elements_->note_non_number("a text");
  add(items_, key_, value ? ITEM_TEXT : ITEM_NONE).text = value ? value : "";
}
void Call::tensor(const Tensor& value) {
  if (elements_) return elements_->note_non_number("a tensor");
  add(items_, key_, ITEM_TENSOR).tensor.push_back(value);
}
void Call::key(const char* name) { key_ = name ? name : ""; }
void Call::open_list() {
  if (elements_) return elements_->open();
  add(items_, key_, ITEM_LIST);
}
void Call::open_map() {
  if (elements_) return elements_->note_non_number("a map"), elements_->open();
  add(items_, key_, ITEM_MAP);
}
void Call::close() {
  if (elements_) return elements_->close();
  add(items_, key_, ITEM_CLOSE);
}
void Call::open_elements() { elements_ = std::make_unique<Nested>(); }

int Call::next() { return at_ < items_.size() ? items_[at_++].kind : ITEM_END; }

static const Item& last_read_item(const Items& items, size_t at) {
  static const Item none{ITEM_NONE, "", "", 0, 0, {}};
  return at ? items[at - 1] : none;
}

std::string Call::name() const { return last_read_item(items_, at_).name; }
long long Call::as_integer() const { return last_read_item(items_, at_).integer; }
double Call::as_real() const { return last_read_item(items_, at_).real; }
std::string Call::as_text() const { return last_read_item(items_, at_).text; }
Bytes Call::data() const { return {data_}; }

Tensor* Call::as_tensor() const {
  const Item& item = last_read_item(items_, at_);
  return item.tensor.empty() ? nullptr : (new Tensor(item.tensor[0]))->held();
}

bool Call::failed() const { return status_ != nullptr; }
int Call::code() const { return thunder_status_code(status_); }
std::string Call::message() const { return thunder_status_message(status_); }
long long Call::ticket() const { return ticket_of(status_); }

void Call::set_failure(thunder_status* stolen) {
  items_.clear();
  at_ = 0;
  thunder_status_release(status_);
  status_ = stolen;
}

void Call::fail(const char* message, long long ticket) { set_failure(failure_of(message, ticket)); }

}  // namespace thunder_swig
