thunder completion fish | source
