eval "$(thunder completion bash)"
