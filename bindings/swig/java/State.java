package thunder;

/** What keeps numbers in a module of the library's own: saved and loaded as one. */
abstract class State {
    abstract thunder.core.Module stateModule();

    public void save(String path) {
        thunder.core.Module state = stateModule();
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.save(state, path));
    }

    public void load(String path) {
        thunder.core.Module state = stateModule();
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.load(state, path));
    }
}
