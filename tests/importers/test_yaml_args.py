"""Arguments of Kubernetes, Helm, docker compose and engines' configuration files."""

import pytest

from sim.importers import read_paste

LISTS = {
    "values on lines of their own": "args:\n  - '--model'\n  - Qwen/Qwen3-8B\n  - '--max-num-seqs'\n  - '64'\n",
    "equals signs": 'args:\n- --model=Qwen/Qwen3-8B\n- "--max-num-seqs=64"  # slots\n',
    "flag and value in one item": "- --model Qwen/Qwen3-8B\n- --max-num-seqs 64\n",
    "a flow list": 'args: ["--model", "Qwen/Qwen3-8B", "--max-num-seqs", "64"]\n',
    "a flow list on several lines": 'command: ["vllm", "serve",\n  "Qwen/Qwen3-8B",\n  "--max-num-seqs=64"]\n',
    "a shell's word": 'command: ["/bin/sh", "-c"]\nargs: ["vllm serve Qwen/Qwen3-8B --max-num-seqs 64"]\n',
    "a block": "command: >\n  --model Qwen/Qwen3-8B\n  --max-num-seqs 64\nports:\n  - 8000:8000\n",
    "a block of a shell": "args:\n- |\n  vllm serve Qwen/Qwen3-8B \\\n    --max-num-seqs 64\n",
    "a string": "    command: --model Qwen/Qwen3-8B --max-num-seqs 64\n",
    "a configuration file": "model: Qwen/Qwen3-8B\nmax-num-seqs: 64\n",
    "underscores": "model: Qwen/Qwen3-8B\nmax_num_seqs: 64\n",
    "Helm values": "vllmConfig:\n  model: Qwen/Qwen3-8B\n  maxNumSeqs: 64\n",
}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_arguments_are_found(text: str):
    reading = read_paste(text)
    assert (reading.engine, reading.params["model"], reading.params["max_num_seqs"]) == ("vllm", "qwen3-8b", 64)
    assert reading.unknown == ()


def test_manifest_is_read_past_its_other_keys():
    text = """
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:latest
      args:
        - --model=Qwen/Qwen3-8B
        - --tensor-parallel-size=2
      env:
        - name: HF_TOKEN
          value: hf_abc
      resources:
        limits:
          nvidia.com/gpu: "1"
"""
    reading = read_paste(text)
    assert reading.params["tensor_parallel_size"] == 2
    assert "2 GPUs are asked for and 1 are visible" in " ".join(reading.warnings)
    assert "hf_abc" not in str(reading.as_json())


def test_keys_of_tensorrt_llm_are_told_from_vllm():
    reading = read_paste(
        "max_batch_size: 32\nmax_num_tokens: 4096\nkv_cache_config:\n  free_gpu_memory_fraction: 0.8\n"
    )
    assert reading.engine == "tensorrt-llm"
    assert reading.params["max_num_seqs"] == 32


def test_yaml_of_something_else_is_not_read():
    with pytest.raises(ValueError, match="text"):
        read_paste("name: something\nversion: 2\ndescription: else\n")
