package thunder;

/** What the library refused; the code is the number of thunder.h. What a closure threw comes back as itself. */
public final class ThunderException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final int code;

    public ThunderException(String message, int code) {
        super(message);
        this.code = code;
    }

    public int code() {
        return code;
    }
}
