package thunder;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** for (Tensor[] batch : batches) is one epoch of tensors with equal first sizes, in an order of its own. */
public final class Batches implements Iterable<Tensor[]> {
    private final thunder.core.Batches core;

    public Batches(List<Tensor> tensors, long size, boolean shuffle, boolean dropLast, long seed) {
        this(tensors, size, shuffle, dropLast, seed, "cpu");
    }

    /** The tensors of a batch are on this device, "cuda:0"; the next batch is sent while one is used. */
    public Batches(List<Tensor> tensors, long size, boolean shuffle, boolean dropLast, long seed, String device) {
        core = (thunder.core.Batches) Exchange.perform(tensors.toArray(), Exchange.NOTHING,
            call -> call.make_batches(size, shuffle, dropLast, seed, device));
    }

    /** In an epoch. */
    public long size() {
        return core.count();
    }

    /** The position; setState resumes exactly there. */
    public Tensor state() {
        return (Tensor) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.batches_state(core));
    }

    public void setState(Tensor state) {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.set_batches_state(core, state.core));
    }

    private Tensor[] next() {
        List<?> batch = (List<?>) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.next_batch(core));
        List<Tensor> tensors = new ArrayList<>();
        for (Object each : batch) tensors.add((Tensor) each);
        return tensors.isEmpty() ? null : tensors.toArray(new Tensor[0]);
    }

    @Override
    public Iterator<Tensor[]> iterator() {
        return new Iterator<>() {
            private Tensor[] following;
            private boolean known; // read no sooner than asked for, so that state() is where the loop stands

            @Override
            public boolean hasNext() {
                if (!known) following = Batches.this.next();
                known = true;
                return following != null;
            }

            @Override
            public Tensor[] next() {
                if (!hasNext()) throw new NoSuchElementException();
                known = false;
                return following;
            }
        };
    }
}
