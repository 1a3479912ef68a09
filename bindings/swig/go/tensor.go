package thunder

import (
	"bytes"
	"encoding/binary"
	"runtime"

	"thunder/core"
)

// Tensor is freed by the collector, or by Close at once.
type Tensor struct{ core core.Tensor }

func wrap(made core.Tensor) *Tensor {
	tensor := &Tensor{made}
	runtime.SetFinalizer(tensor, func(t *Tensor) { core.DeleteTensor(t.core) })
	return tensor
}

// Close frees the memory unless others use it. The tensor must not be used after it.
func (t *Tensor) Close() {
	runtime.SetFinalizer(t, nil)
	core.DeleteTensor(t.core)
}

// Element is what a tensor may hold in Go.
type Element interface {
	~float32 | ~float64 | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~bool
}

func dtypeOf[T Element]() string {
	var zero T
	switch any(zero).(type) {
	case float32:
		return "f32"
	case float64:
		return "f64"
	case int32:
		return "i32"
	case int64:
		return "i64"
	case int8:
		return "i8"
	case int16:
		return "i16"
	case uint8:
		return "u8"
	case uint16:
		return "u16"
	case uint32:
		return "u32"
	case uint64:
		return "u64"
	}
	return "bool"
}

func encode[T Element](elements []T) string {
	var data bytes.Buffer
	binary.Write(&data, binary.LittleEndian, elements) // to memory: it cannot fail
	return data.String()
}

// Of makes a tensor of a slice in row-major order. It panics when the shape does not fit.
func Of[T Element](elements []T, shape ...int) *Tensor {
	items := make([]any, len(shape))
	for i, size := range shape {
		items[i] = size
	}
	return one(must(perform(items, nil, func(call core.Call) any {
		return call.Create_from(dtypeOf[T](), encode(elements))
	})))
}

// Assign stores new elements of the same count in place: what was compiled over this tensor sees them.
func Assign[T Element](t *Tensor, elements []T) error {
	_, err := perform([]any{}, nil, func(call core.Call) any { return call.Write_from(t.core, encode(elements)) })
	runtime.KeepAlive(t)
	return err
}

// Elements are those of the tensor in row-major order, converted to the type that is asked for.
func Elements[T Element](t *Tensor) []T {
	if t.Dtype() != dtypeOf[T]() {
		t = t.To(dtypeOf[T]())
	}
	var data string
	must(perform(nil, nil, func(call core.Call) any {
		read := call.Read(t.core)
		data = call.Raw_data()
		return read
	}))
	var zero T
	list := make([]T, len(data)/binary.Size(zero))
	binary.Read(bytes.NewReader([]byte(data)), binary.LittleEndian, list) // as long as the data: it cannot fail
	runtime.KeepAlive(t)
	return list
}

// Item is the one element of the tensor.
func Item[T Element](t *Tensor) T {
	list := Elements[T](t)
	if len(list) != 1 {
		panic(&Error{3, "item: the tensor has not one element"})
	}
	return list[0]
}

// Dtype is "f32", "i64" ...
func (t *Tensor) Dtype() string {
	defer runtime.KeepAlive(t)
	return t.core.Dtype()
}

// Rank is the number of axes.
func (t *Tensor) Rank() int {
	defer runtime.KeepAlive(t)
	return t.core.Rank()
}

// Size is the extent of an axis; a negative one counts from the back.
func (t *Tensor) Size(axis int) int64 {
	defer runtime.KeepAlive(t)
	return t.core.Size(axis)
}

// Shape is the extents of all axes.
func (t *Tensor) Shape() []int64 {
	shape := make([]int64, t.Rank())
	for axis := range shape {
		shape[axis] = t.Size(axis)
	}
	return shape
}

// String is the tensor as PyTorch prints it.
func (t *Tensor) String() string {
	defer runtime.KeepAlive(t)
	made, err := perform(nil, nil, func(call core.Call) any { return call.Tensor_text(t.core) })
	if err != nil {
		return "tensor(" + err.Error() + ")"
	}
	return made.(string)
}
