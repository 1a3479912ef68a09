package thunder;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import thunder.core.Call;

/** A tensor. Its ops are inherited; close() frees its memory now rather than when it is collected. */
public final class Tensor extends TensorOps implements AutoCloseable {
    final thunder.core.Tensor core;

    Tensor(thunder.core.Tensor core) {
        this.core = core;
    }

    /** Makes one from a flat or nested array of float, double, int, long, boolean or byte, or from one such value. */
    public static Tensor of(Object values) {
        Object first = values;
        while (first.getClass().isArray() && Array.getLength(first) > 0) first = Array.get(first, 0);
        String dtype = Elements.of(first).dtype;
        return (Tensor) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> {
            call.open_elements();
            Exchange.putElements(call, values);
            return call.make_tensor(dtype);
        });
    }

    public String dtype() {
        return core.dtype();
    }

    public int rank() {
        return core.rank();
    }

    public long size(int axis) {
        return core.size(axis);
    }

    public long[] shape() {
        long[] shape = new long[rank()];
        for (int axis = 0; axis < shape.length; axis++) shape[axis] = size(axis);
        return shape;
    }

    /** All elements in a flat array of their own type: float[], double[], long[], int[], short[], byte[] or
     *  boolean[]; an unsigned integer has the bits of the signed type of its size. */
    public Object flat() {
        if (dtype().equals("bf16") || dtype().equals("f16")) return to("f32").flat();
        byte[] bytes = bytes();
        Elements elements = Elements.named(dtype());
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        Object array = Array.newInstance(elements.type, bytes.length / elements.size);
        for (int i = 0; i < Array.getLength(array); i++) Array.set(array, i, elements.get(buffer));
        return array;
    }

    public float[] floats() {
        return (float[]) (dtype().equals("f32") ? flat() : to("f32").flat());
    }

    public double[] doubles() {
        return (double[]) (dtype().equals("f64") ? flat() : to("f64").flat());
    }

    public long[] longs() {
        return (long[]) (dtype().equals("i64") ? flat() : to("i64").flat());
    }

    /** The one element, as its own type. */
    public Object item() {
        Object array = flat();
        if (Array.getLength(array) != 1) throw new ThunderException("item: the tensor has not one element", 3);
        return Array.get(array, 0);
    }

    private byte[] bytes() {
        return (byte[]) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.read(core) ? call.data() : null);
    }

    /** As PyTorch prints it. */
    @Override public String toString() {
        return (String) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.tensor_text(core));
    }

    /** Frees the memory unless others use it. The tensor must not be used after it. */
    @Override public void close() {
        core.delete();
    }
}
