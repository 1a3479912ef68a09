package thunder

import (
	"runtime"

	"thunder/core"
)

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
		return call.Batches_new(options.Size, options.Shuffle, options.DropLast, options.Seed, device)
	})
	if err != nil {
		return nil, err
	}
	batches := &Batches{made.(core.Batches)}
	runtime.SetFinalizer(batches, func(b *Batches) { core.DeleteBatches(b.core) })
	return batches, nil
}
