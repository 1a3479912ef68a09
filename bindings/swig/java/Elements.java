package thunder;

import java.nio.ByteBuffer;

/** How a type of Java lies in a tensor's memory. */
enum Elements {
    F32("f32", float.class, Float.class, 4) {
        Object get(ByteBuffer from) { return from.getFloat(); }
    },
    F64("f64", double.class, Double.class, 8) {
        Object get(ByteBuffer from) { return from.getDouble(); }
    },
    I64("i64", long.class, Long.class, 8) {
        Object get(ByteBuffer from) { return from.getLong(); }
    },
    I32("i32", int.class, Integer.class, 4) {
        Object get(ByteBuffer from) { return from.getInt(); }
    },
    I16("i16", short.class, Short.class, 2) {
        Object get(ByteBuffer from) { return from.getShort(); }
    },
    U8("u8", byte.class, Byte.class, 1) {
        Object get(ByteBuffer from) { return from.get(); }
    },
    I8("i8", byte.class, Byte.class, 1) {
        Object get(ByteBuffer from) { return from.get(); }
    },
    U16("u16", short.class, Short.class, 2) {
        Object get(ByteBuffer from) { return from.getShort(); }
    },
    U32("u32", int.class, Integer.class, 4) {
        Object get(ByteBuffer from) { return from.getInt(); }
    },
    U64("u64", long.class, Long.class, 8) {
        Object get(ByteBuffer from) { return from.getLong(); }
    },
    BOOL("bool", boolean.class, Boolean.class, 1) {
        Object get(ByteBuffer from) { return from.get() != 0; }
    };

    final String dtype;
    final Class<?> type;
    final int size;
    private final Class<?> boxed;

    Elements(String dtype, Class<?> type, Class<?> boxed, int size) {
        this.dtype = dtype;
        this.type = type;
        this.boxed = boxed;
        this.size = size;
    }

    abstract Object get(ByteBuffer from);

    /** Of a value, or of an empty array. */
    static Elements of(Object value) {
        Class<?> type = value.getClass().isArray() ? value.getClass().getComponentType() : value.getClass();
        for (Elements elements : values()) if (elements.boxed == type || elements.type == type) return elements;
        throw new ThunderException("a tensor has no elements of type " + type.getName(), 3);
    }

    static Elements named(String dtype) {
        for (Elements elements : values()) if (elements.dtype.equals(dtype)) return elements;
        throw new ThunderException("there is no dtype " + dtype, 5);
    }
}
