// Package thunder: tensors from slices, ops as methods, functions compiled.
//
//	x := thunder.Of([]float32{1, 2, 3, 4}, 2, 2)
//	f, err := thunder.Compile(func(a *thunder.Tensor) *thunder.Tensor { return a.Matmul(a).Add(1).Relu().Sum() })
//	y, err := f.Call(x)
//
// Ops panic with an *Error, so that they chain; a traced function that panics fails its call with that error, and Try
// makes an error of it elsewhere. All else returns errors.
package thunder

import (
	"reflect"
	"runtime"

	"thunder/core"
)

// Try runs a function and returns the error with which an op in it panicked.
func Try(work func()) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			failed, ok := thrown.(*Error)
			if !ok {
				panic(thrown)
			}
			err = failed
		}
	}()
	work()
	return nil
}

func must(made any, err error) any {
	if err != nil {
		panic(err)
	}
	return made
}

// op takes what follows the required arguments apart: a Named at its end gives arguments by name.
func op(name string, rest []any, items ...any) any {
	rest, named := splitNamed(rest)
	items = append(items, rest...)
	return must(perform(items, named, func(call core.Call) any { return call.Op(name, place()) }))
}

func splitNamed(arguments []any) ([]any, []Named) {
	if n := len(arguments); n > 0 {
		if named, ok := arguments[n-1].(Named); ok {
			return arguments[:n-1], []Named{named}
		}
	}
	return arguments, nil
}

func one(made any) *Tensor { return made.(*Tensor) }

func several(made any) []*Tensor {
	list, ok := made.([]any)
	if !ok {
		return []*Tensor{one(made)}
	}
	tensors := make([]*Tensor, len(list))
	for i, tensor := range list {
		tensors[i] = one(tensor)
	}
	return tensors
}

// Compiled is a function of tensors, compiled. Any goroutine may call it.
type Compiled struct {
	core core.Compiled
	base *Compiled
}

// compiled ends the function of the core.
func compiled(function core.Function, base *Compiled, options []Named) (*Compiled, error) {
	defer core.DeleteFunction(function)
	made, err := perform(nil, options, func(call core.Call) any { return call.Compile(function) })
	if err != nil {
		return nil, err
	}
	f := &Compiled{made.(core.Compiled), base}
	runtime.SetFinalizer(f, func(f *Compiled) { core.DeleteCompiled(f.core) })
	return f, nil
}

// Compile takes a function of tensors (or of any values) that returns a tensor, or what holds tensors, and perhaps an
// error beside it. The function is kept until the last handle goes; one that refers to its own Compiled is kept for ever.
func Compile(body any, options ...Named) (*Compiled, error) {
	closure := reflect.ValueOf(body)
	if closure.Kind() != reflect.Func {
		return nil, &Error{3, "Compile takes a function"}
	}
	ticket := ticketOf(closure)
	made, err := perform(nil, nil, func(call core.Call) any { return call.Make_function("", ticket) })
	if err != nil {
		return nil, err
	}
	return compiled(made.(core.Function), nil, options)
}

// Apply returns what the function returns: a *Tensor, []any or map[string]any.
func (f *Compiled) Apply(arguments ...any) (any, error) {
	defer runtime.KeepAlive(f)
	return perform(arguments, nil, func(call core.Call) any { return call.Call(f.core) })
}

// Call is Apply of a function that returns one tensor.
func (f *Compiled) Call(arguments ...any) (*Tensor, error) {
	made, err := f.Apply(arguments...)
	if err != nil {
		return nil, err
	}
	tensor, ok := made.(*Tensor)
	if !ok {
		return nil, &Error{3, "the function returns more than one tensor; use Apply"}
	}
	return tensor, nil
}

// ValueAndGrad is the same function, returning its results and the gradients of the first. wrt: paths of arguments, such
// as "0,1.w", or "".
func (f *Compiled) ValueAndGrad(wrt string, options ...Named) (*Compiled, error) {
	defer runtime.KeepAlive(f)
	made, err := perform(nil, nil, func(call core.Call) any { return call.Value_and_grad(f.core, wrt) })
	if err != nil {
		return nil, err
	}
	return compiled(made.(core.Function), f, options)
}

// as is what an action made, as its type.
func as[T any](made any, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return made.(T), nil
}

// list is a list of one type; nil if it is empty.
func list[T any](made any) []T {
	var found []T
	for _, each := range made.([]any) {
		found = append(found, each.(T))
	}
	return found
}

func asList[T any](made any, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return list[T](made), nil
}

// given is an argument that may be left out.
func given[T any](rest []T, value T) T {
	if len(rest) > 0 {
		return rest[0]
	}
	return value
}

// @members Compiled@

// @functions@

// @classes@

// Op is an op by name: one of your own.
func Op(name string, arguments ...any) *Tensor { return one(op(name, arguments)) }

// AddOp adds an op of your own, for ever: body computes it from its arguments by other ops. vjp gets lists of the arguments,
// the results, their cotangents and which gradients are wanted, and returns a gradient for each argument; nil: the body's.
func AddOp(schema, doc string, body, vjp any) error {
	made, gradient := ticketOf(reflect.ValueOf(body)), int64(0)
	if vjp != nil {
		gradient = ticketOf(reflect.ValueOf(vjp))
	}
	_, err := perform(nil, nil, func(call core.Call) any { return call.Add_op(schema, doc, made, gradient) })
	return err
}

// AddPass makes rules such as "div(a, sqrt(b)) -> mul(a, rsqrt(b))" a pass of every compile from now on, before another or,
// with "", after "grad".
func AddPass(name, before string, rules ...string) error {
	_, err := perform([]any{rules}, nil, func(call core.Call) any { return call.Add_pass(name, before, "") })
	return err
}

// Doc says what an op does.
func Doc(op string) string {
	rows, _ := Describe("ops")
	for _, row := range rows {
		if row := row.(map[string]any); row["name"] == op {
			return row["doc"].(string)
		}
	}
	return ""
}

// Version of the library.
func Version() string { return core.Version() }
