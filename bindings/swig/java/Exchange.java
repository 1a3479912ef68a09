package thunder;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.lang.ref.WeakReference;
import thunder.core.Call;
import thunder.core.Dispatcher;
import thunder.core.Kind;
import thunder.core.ThunderCore;

/** Between Java's values and what the core's calls carry. */
final class Exchange {
    /** Exceptions on their way through the library, and what owns a closure, by ticket. */
    private static final Map<Long, Throwable> RAISED = new ConcurrentHashMap<>();
    private static final Map<Long, WeakReference<Closure>> CLOSURES = new ConcurrentHashMap<>();

    /** What owns a closure; its holders hold it. */
    interface Closure {
        Thunder.Body body();
    }

    /** What owns the closures of ops. */
    private static final Map<Long, Closure> KEPT = new ConcurrentHashMap<>();

    /** The ticket of a closure that is never dropped. */
    static long keep(Thunder.Body body) {
        Closure owner = () -> body;
        long ticket = ticketOf(owner);
        KEPT.put(ticket, owner);
        return ticket;
    }

    /** What runs a closure; the library knows it for ever. */
    private static final Dispatcher DISPATCHER = new Dispatcher() {
        @Override public void run(long ticket) {
            Exchange.run(ticket);
        }
    };
    static {
        ThunderCore.set_dispatcher(DISPATCHER);
    }

    private Exchange() {}

    interface Action {
        Object run(Call call);
    }

    /** Performs an action over items; `named` is a name and a value in turn, of which those that are null are left out. */
    static Object perform(Object[] items, Object[] named, Action action) {
        Call call = new Call();
        try {
            for (Object item : items) put(call, item);
            for (int i = 0; i + 1 < named.length; i += 2) {
                if (named[i + 1] == null) continue;
                call.key((String) named[i]);
                put(call, named[i + 1]);
            }
            Object made = action.run(call);
            if (call.failed()) throw Exchange.<RuntimeException>sneaky(failure(call));
            return made instanceof Boolean ? result(call) : made;
        } finally {
            call.delete();
        }
    }

    static final Object[] NOTHING = {};

    static Object op(String name, Object[] items, Object... named) {
        return perform(items, named, call -> call.op(name, place()));
    }

    /** The results of an op that has several. */
    static Tensor[] tensors(Object made) {
        return made instanceof Tensor ? new Tensor[] {(Tensor) made} : ((List<?>) made).toArray(new Tensor[0]);
    }

    private static Throwable failure(Call call) {
        Throwable raised = RAISED.get(call.ticket());
        return raised != null ? raised : new ThunderException(call.message(), call.code());
    }

    /** What a closure threw comes back as itself, also when the compiler would have it declared. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneaky(Throwable thrown) throws T {
        throw (T) thrown;
    }

    static void put(Call call, Object value) {
        if (value == null) call.none();
        else if (value instanceof Tensor) call.tensor(((Tensor) value).core);
        else if (value instanceof Boolean) call.flag((Boolean) value);
        else if (value instanceof Float || value instanceof Double) call.real(((Number) value).doubleValue());
        else if (value instanceof Number) call.integer(((Number) value).longValue());
        else if (value instanceof String) call.text((String) value);
        else if (value instanceof Map) putMap(call, (Map<?, ?>) value);
        else putList(call, value);
    }

    private static void putMap(Call call, Map<?, ?> map) {
        call.open_map();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            call.key(entry.getKey().toString());
            put(call, entry.getValue());
        }
        call.close();
    }

    private static void putList(Call call, Object list) {
        call.open_list();
        if (list instanceof long[]) for (long value : (long[]) list) call.integer(value);
        else if (list instanceof int[]) for (int value : (int[]) list) call.integer(value);
        else if (list instanceof double[]) for (double value : (double[]) list) call.real(value);
        else if (list instanceof Object[]) for (Object value : (Object[]) list) put(call, value);
        else if (list instanceof Iterable) for (Object value : (Iterable<?>) list) put(call, value);
        else throw new ThunderException("a " + list.getClass().getName() + " cannot go into the library", 3);
        call.close();
    }

    /** A number, or arrays of them, nested or not. */
    static void putElements(Call call, Object values) {
        if (values == null || !values.getClass().isArray()) {
            put(call, values);
            return;
        }
        call.open_list();
        if (values instanceof float[]) for (float value : (float[]) values) call.real(value);
        else if (values instanceof double[]) for (double value : (double[]) values) call.real(value);
        else if (values instanceof long[]) for (long value : (long[]) values) call.integer(value);
        else if (values instanceof int[]) for (int value : (int[]) values) call.integer(value);
        else for (int i = 0; i < Array.getLength(values); i++) putElements(call, Array.get(values, i));
        call.close();
    }

    private static Object take(Call call, Kind kind) {
        if (kind == Kind.ITEM_BOOLEAN) return call.as_integer() != 0;
        if (kind == Kind.ITEM_INTEGER) return call.as_integer();
        if (kind == Kind.ITEM_REAL) return call.as_real();
        if (kind == Kind.ITEM_TEXT) return call.as_text();
        if (kind == Kind.ITEM_TENSOR) return take(call);
        if (kind == Kind.ITEM_LIST) return takeUntil(call, Kind.ITEM_CLOSE);
        return kind == Kind.ITEM_MAP ? takeMap(call) : null;
    }

    private static Tensor take(Call call) {
        if (ThunderCore.should_collect()) {
            System.gc();
            System.runFinalization();
        }
        return new Tensor(call.as_tensor());
    }

    private static Kind next(Call call) {
        return Kind.swigToEnum(call.next());
    }

    private static List<Object> takeUntil(Call call, Kind end) {
        List<Object> list = new ArrayList<>();
        for (Kind kind = next(call); kind != end; kind = next(call)) list.add(take(call, kind));
        return list;
    }

    private static Map<String, Object> takeMap(Call call) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (Kind kind = next(call); kind != Kind.ITEM_CLOSE; kind = next(call)) {
            String name = call.name();
            map.put(name, take(call, kind));
        }
        return map;
    }

    /** What the call made: one value, or a list of several. */
    private static Object result(Call call) {
        List<Object> list = takeUntil(call, Kind.ITEM_END);
        return list.size() > 1 ? list : list.isEmpty() ? null : list.get(0);
    }

    static long newTicket() {
        for (long dropped = ThunderCore.next_dropped(); dropped != 0; dropped = ThunderCore.next_dropped()) {
            RAISED.remove(dropped);
            CLOSURES.remove(dropped);
        }
        return ThunderCore.new_ticket();
    }

    /** Whoever holds the compiled function holds its closure. */
    static long ticketOf(Closure owner) {
        long ticket = newTicket();
        CLOSURES.put(ticket, new WeakReference<>(owner));
        return ticket;
    }

    private static void run(long ticket) {
        Call call = ThunderCore.callback();
        try {
            WeakReference<Closure> weak = CLOSURES.get(ticket);
            Closure owner = weak == null ? null : weak.get();
            if (owner == null) throw new ThunderException("the function was collected: keep what was compiled", 0);
            Object made = owner.body().apply(takeUntil(call, Kind.ITEM_END).toArray());
            call.reset();
            put(call, made);
        } catch (Throwable thrown) {
            long raised = newTicket();
            RAISED.put(raised, thrown);
            call.fail(thrown.toString(), raised);
        }
    }

    /** The line of the user's program, for traces. */
    private static String place() {
        if (!ThunderCore.is_tracing()) return "";
        return StackWalker.getInstance().walk(frames -> frames.filter(f -> !f.getClassName().startsWith("thunder."))
            .findFirst().map(f -> f.getFileName() + ":" + f.getLineNumber()).orElse(""));
    }
}
