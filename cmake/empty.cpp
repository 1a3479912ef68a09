// Gives a target that consists of other targets' objects, or only of its dependencies, a source of its own.
