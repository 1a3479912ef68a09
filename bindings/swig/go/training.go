package thunder

import (
	"runtime"

	"thunder/core"
)

// Optimizer is an update rule and its state.
type Optimizer struct{ core core.Optimizer }

// NewOptimizer makes one of a kind that the library has.
func NewOptimizer(kind string, parameters map[string]any, options ...Named) (*Optimizer, error) {
	made, err := perform([]any{parameters}, options, func(call core.Call) any { return call.Make_optimizer(kind) })
	if err != nil {
		return nil, err
	}
	optimizer := &Optimizer{made.(core.Optimizer)}
	runtime.SetFinalizer(optimizer, func(o *Optimizer) { core.DeleteOptimizer(o.core) })
	return optimizer, nil
}

// Step takes gradients in the structure of the parameters; it panics as ops do.
func (o *Optimizer) Step(gradients any) {
	defer runtime.KeepAlive(o)
	must(perform([]any{gradients}, nil, func(call core.Call) any { return call.Step(o.core) }))
}

// StepClosure is a step that evaluates the loss: f.Apply(arguments...) gives it with the gradients, of "LBFGS" several times. It
// gives the first loss.
func (o *Optimizer) StepClosure(f *Compiled, arguments ...any) (*Tensor, error) {
	defer runtime.KeepAlive(o)
	defer runtime.KeepAlive(f)
	made, err := perform(arguments, nil, func(call core.Call) any { return call.Step_closure(o.core, f.core) })
	if err != nil {
		return nil, err
	}
	return made.(*Tensor), nil
}

// Get is a number of its state or options: "lr", "step", "weight_decay".
func (o *Optimizer) Get(name string) (float64, error) {
	defer runtime.KeepAlive(o)
	value, err := perform(nil, nil, func(call core.Call) any { return call.Get_number(o.core, name) })
	if err != nil {
		return 0, err
	}
	return value.(float64), nil
}

// Set writes such a number; writing "lr" compiles nothing anew.
func (o *Optimizer) Set(name string, value float64) error {
	defer runtime.KeepAlive(o)
	_, err := perform(nil, nil, func(call core.Call) any { return call.Set_number(o.core, name, value) })
	return err
}

// Save writes moments, step and learning rate as safetensors.
func (o *Optimizer) Save(path string) error {
	defer runtime.KeepAlive(o)
	return saveState(path, func(call core.Call) any { return call.Optimizer_state(o.core) })
}

// Load reads what Save wrote.
func (o *Optimizer) Load(path string) error {
	defer runtime.KeepAlive(o)
	return loadState(path, func(call core.Call) any { return call.Optimizer_state(o.core) })
}

func withState(get func(core.Call) any, action func(core.Call, core.Module) any) error {
	state, err := perform(nil, nil, get)
	if err != nil {
		return err
	}
	module := state.(core.Module)
	defer core.DeleteModule(module)
	_, err = perform(nil, nil, func(call core.Call) any { return action(call, module) })
	return err
}

func saveState(path string, get func(core.Call) any) error {
	return withState(get, func(call core.Call, state core.Module) any { return call.Save(state, path) })
}

func loadState(path string, get func(core.Call) any) error {
	return withState(get, func(call core.Call, state core.Module) any { return call.Load(state, path) })
}

// Schedule writes the learning rate of an optimiser at each step.
type Schedule struct {
	core      core.Schedule
	optimizer *Optimizer
}

// NewSchedule makes one of a kind that the library has: "CosineAnnealingLR", "StepLR" ...
func NewSchedule(kind string, optimizer *Optimizer, options ...Named) (*Schedule, error) {
	made, err := perform(nil, options, func(call core.Call) any { return call.Make_schedule(kind, optimizer.core) })
	runtime.KeepAlive(optimizer)
	if err != nil {
		return nil, err
	}
	schedule := &Schedule{made.(core.Schedule), optimizer}
	runtime.SetFinalizer(schedule, func(s *Schedule) { core.DeleteSchedule(s.core) })
	return schedule, nil
}

// Step writes the next learning rate.
func (s *Schedule) Step() error {
	defer runtime.KeepAlive(s)
	_, err := perform(nil, nil, func(call core.Call) any { return call.Schedule_step(s.core) })
	return err
}

// GetLastLr is the learning rate of each group that the last step wrote.
func (s *Schedule) GetLastLr() []float64 {
	defer runtime.KeepAlive(s)
	made := must(perform(nil, nil, func(call core.Call) any { return call.Last_lr(s.core) })).([]any)
	rates := make([]float64, len(made))
	for i, rate := range made {
		rates[i] = rate.(float64)
	}
	return rates
}

// Save writes its state as safetensors.
func (s *Schedule) Save(path string) error {
	defer runtime.KeepAlive(s)
	return saveState(path, func(call core.Call) any { return call.Schedule_state(s.core) })
}

// Load reads what Save wrote.
func (s *Schedule) Load(path string) error {
	defer runtime.KeepAlive(s)
	return loadState(path, func(call core.Call) any { return call.Schedule_state(s.core) })
}

// Batches are tensors with equal first sizes, batch by batch, each epoch in an order of its own.
type Batches struct{ core core.Batches }

// BatchOptions say how many rows a batch has, and how they are chosen.
type BatchOptions struct {
	Size     int64
	Shuffle  bool
	DropLast bool
	Seed     int64
	Device   string // "cpu" if it is empty; "cuda:0": the next batch is sent there while one is used
}

// NewBatches takes the tensors that a batch has rows of.
func NewBatches(tensors []*Tensor, options BatchOptions) (*Batches, error) {
	items := make([]any, len(tensors))
	for i, tensor := range tensors {
		items[i] = tensor
	}
	device := options.Device
	if device == "" {
		device = "cpu"
	}
	made, err := perform(items, nil, func(call core.Call) any {
		return call.Make_batches(options.Size, options.Shuffle, options.DropLast, options.Seed, device)
	})
	if err != nil {
		return nil, err
	}
	batches := &Batches{made.(core.Batches)}
	runtime.SetFinalizer(batches, func(b *Batches) { core.DeleteBatches(b.core) })
	return batches, nil
}

// Count is how many there are in an epoch.
func (b *Batches) Count() int64 {
	defer runtime.KeepAlive(b)
	return b.core.Count()
}

// Next is a tensor of each source; nil at the end of an epoch, behind which the next one begins.
func (b *Batches) Next() ([]*Tensor, error) {
	defer runtime.KeepAlive(b)
	made, err := perform(nil, nil, func(call core.Call) any { return call.Next_batch(b.core) })
	if err != nil || len(made.([]any)) == 0 {
		return nil, err
	}
	return several(made), nil
}

// State is the position; SetState resumes exactly there.
func (b *Batches) State() (*Tensor, error) {
	defer runtime.KeepAlive(b)
	return tensorOf(func(call core.Call) any { return call.Batches_state(b.core) })
}

// SetState goes on from such a position.
func (b *Batches) SetState(state *Tensor) error {
	defer runtime.KeepAlive(b)
	defer runtime.KeepAlive(state)
	_, err := perform(nil, nil, func(call core.Call) any { return call.Set_batches_state(b.core, state.core) })
	return err
}

// ClipGradNorm gives gradients scaled so that their norm together is at most maxNorm, in their structure, and the norm before. It
// panics as ops do.
func ClipGradNorm(gradients any, maxNorm float64) (any, *Tensor) {
	made := must(perform([]any{gradients}, nil, func(call core.Call) any { return call.Clip_grad_norm(maxNorm) })).([]any)
	return made[0], one(made[1])
}

// ClipGradValue gives gradients of which each element is bounded to [-bound, bound]. It panics as ops do.
func ClipGradValue(gradients any, bound float64) any {
	return must(perform([]any{gradients}, nil, func(call core.Call) any { return call.Clip_grad_value(bound) }))
}
