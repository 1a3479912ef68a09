package thunder

import (
	"runtime"

	"thunder/core"
)

// Module is a layer or a tree of layers, of the kinds that the library has.
type Module struct{ core core.Module }

// NewModule takes the arguments of the kind, the last of which may be a Named.
func NewModule(kind string, arguments ...any) (*Module, error) {
	arguments, named := splitNamed(arguments)
	made, err := perform(arguments, named, func(call core.Call) any { return call.Make_module(kind) })
	if err != nil {
		return nil, err
	}
	module := &Module{made.(core.Module)}
	runtime.SetFinalizer(module, func(m *Module) { core.DeleteModule(m.core) })
	return module, nil
}

func (m *Module) do(action func(core.Call) any) error {
	_, err := perform(nil, nil, action)
	runtime.KeepAlive(m)
	return err
}

// Add adds a child, or replaces the one of that name.
func (m *Module) Add(name string, child *Module) error {
	defer runtime.KeepAlive(child)
	return m.do(func(call core.Call) any { return call.Add_child(m.core, name, child.core) })
}

// Call is the module's forward; it panics as ops do.
func (m *Module) Call(arguments ...any) *Tensor {
	defer runtime.KeepAlive(m)
	return one(must(perform(arguments, nil, func(call core.Call) any { return call.Forward(m.core) })))
}

// Parameters are tensors by path.
func (m *Module) Parameters() map[string]any {
	defer runtime.KeepAlive(m)
	return must(perform(nil, nil, func(call core.Call) any { return call.Parameters(m.core) })).(map[string]any)
}

// Train switches between training and use.
func (m *Module) Train(on bool) error {
	return m.do(func(call core.Call) any { return call.Train(m.core, on) })
}

// Save writes safetensors.
func (m *Module) Save(path string) error {
	return m.do(func(call core.Call) any { return call.Save(m.core, path) })
}

// Load reads what Save wrote into the module's own tensors.
func (m *Module) Load(path string) error {
	return m.do(func(call core.Call) any { return call.Load(m.core, path) })
}
