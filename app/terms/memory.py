"""The memory of what has been read and written."""

from app.presets import AGENTS, KV_LIMIT, PENALTY, SHARED, THRASHING
from app.terms.term import Subject, Term, Words, lab

_ANY_BLOCK = "none: any block will do"
_KV_HEADS = "`num_key_value_heads` in `config.json`"
_FP8 = "rate=8&num_requests=40&b.kv_cache_dtype=fp8"
_GQA = "model=llama-3.1-8b&num_requests=20&b.model=llama-2-7b"
_MLA = "model=deepseek-v2-lite&num_requests=20"

MEMORY = Subject(
    "KV memory",
    (
        Term(
            "kv-cache",
            "KV cache",
            "What the model keeps in GPU memory of every token it has read or written, a key and a value for each of "
            "its layers, so that no token has to be computed again.",
            Words(
                "`KVCacheManager`, `vllm:kv_cache_usage_perc`",
                "`MHATokenToKVPool`, `sglang:token_usage`",
                "`KVCacheManager`, `trtllm_kv_cache_utilization`",
                "`KVCache`, sized by `--max-batch-total-tokens`",
                "`llama_kv_cache`, sized by `--ctx-size`",
            ),
            lab(PENALTY, "kv-map", 6.8),
        ),
        Term(
            "gpu-memory-utilization",
            "gpu_memory_utilization",
            "The share of the GPU's memory that the server may use; what weights and working memory leave of it "
            "becomes KV cache.",
            Words(
                "`--gpu-memory-utilization`",
                "`--mem-fraction-static`: weights and KV cache only",
                "`--kv_cache_free_gpu_memory_fraction`: of what is free",
                "`--cuda-memory-fraction`",
            ),
            lab(PENALTY, "memory", 6.8),
        ),
        Term(
            "max-model-len",
            "max_model_len",
            "The most tokens that the prompt and the output of one request may have together.",
            Words(
                "`--max-model-len`",
                "`--context-length`",
                "`--max_seq_len`",
                "`--max-total-tokens`",
                "`--ctx-size` divided by `--parallel`",
            ),
            lab(KV_LIMIT, "memory", 4),
            other="context length",
        ),
        Term(
            "internal-fragmentation",
            "Internal fragmentation",
            "Memory that a request was given and does not fill, such as room for an output that turns out to be short.",
            Words(
                "the rest of a request's last block",
                "none with `--page-size 1`",
                "GUARANTEED_NO_EVICT keeps room for all of `max_tokens`",
                "room for all of `max_new_tokens` is taken on admission",
                "what a slot does not fill of its share of `--ctx-size`",
            ),
            lab(KV_LIMIT, "kv-map", 4),
        ),
        Term(
            "external-fragmentation",
            "External fragmentation",
            "Free memory that helps nobody, because it lies in pieces and a request would need one long piece.",
            Words(_ANY_BLOCK, _ANY_BLOCK, _ANY_BLOCK, _ANY_BLOCK, "`--defrag-thold`, deprecated"),
            lab(KV_LIMIT, "kv-map", 4),
        ),
        Term(
            "block",
            "Block",
            "Room in the KV cache for a fixed number of tokens, often 16, which is given out as a whole.",
            Words(
                "`KVCacheBlock`, `--block-size`",
                "page: `--page-size`",
                "`--tokens_per_block`",
                "`block_size`",
                "cell: one token",
            ),
            lab(PENALTY, "kv-map", 6.8),
            other="page",
        ),
        Term(
            "block-pool",
            "Block pool",
            "All blocks of a server, those in use and those that are free.",
            Words(
                "`BlockPool`, `num_gpu_blocks`",
                "`sglang:max_total_num_tokens`, in tokens",
                "`trtllm_kv_cache_max_blocks`",
                "`BlockAllocator`",
                "`llama_kv_cells`",
            ),
            lab(PENALTY, "kv-map", 6.8),
        ),
        Term(
            "block-table",
            "Block table",
            "A request's list of its blocks in the order of its tokens, so that the blocks themselves may lie "
            "anywhere.",
            Words(
                "`BlockTable`",
                "`req_to_token`",
                "`kv_cache_block_offsets`",
                "`block_tables`",
                "none: each cell has the `seq_id` of its sequence",
            ),
            lab(PENALTY, "kv-map", 6.8),
        ),
        Term(
            "prefix-caching",
            "Prefix caching",
            "Keeping blocks that have been computed, so that a request which begins with the same tokens shares them "
            "and need not compute them again.",
            Words(
                "`--enable-prefix-caching`, `vllm:prefix_cache_hits_total`",
                "radix cache: `RadixCache`, `sglang:cache_hit_rate`",
                "block reuse: `--enable_block_reuse`, `trtllm_kv_cache_hit_rate`",
                "`RadixAllocator`",
                "for each slot alone: `cache_prompt` of the request",
            ),
            lab(SHARED, "kv-map", 4),
            other="radix cache, block reuse",
        ),
        Term(
            "reference-count",
            "Reference count",
            "How many requests use a block at the moment; at none it is free.",
            Words(
                "`ref_cnt` of a `KVCacheBlock`",
                "`lock_ref` of a `TreeNode`",
                "`mRefCount` of a `KVCacheBlock`",
                "`ref_count` of a `TrieNode`",
                "the `seq_id`s of a cell",
            ),
            lab(SHARED, "kv-map", 4),
        ),
        Term(
            "copy-on-write",
            "Copy-on-write",
            "Sharing a block until one of those who use it has to write into it, and gets a copy of its own to do so.",
            Words(
                "not since V1: only full blocks are shared, and nobody writes into those",
                "none: a node of the tree is split instead",
                "`copy_on_partial_reuse`",
            ),
        ),
        Term(
            "lru-eviction",
            "LRU eviction",
            "Making room by giving away what has gone unused for longest: here, free blocks that are kept in case "
            "their content is wanted again.",
            Words(
                "`FreeKVCacheBlockQueue`",
                "`--radix-eviction-policy lru`",
                "`LRUEvictionPolicy`",
                "`RadixTrie::evict()`",
                "the slot that was left longest ago",
            ),
            lab(AGENTS, "kv-map", 6),
            other="least recently used",
        ),
        Term(
            "preemption",
            "Preemption",
            "Taking the blocks of a running request away because none is free for another, and sending it back to the "
            "waiting line.",
            Words(
                "`vllm:num_preemptions_total`: the newest goes, to the front of the line",
                "retraction",
                "pause, with MAX_UTILIZATION only: `trtllm_num_paused_requests`",
                "none: room for the whole output is taken on admission",
                "none: when memory is full, every busy slot fails",
            ),
            lab(THRASHING, "events", 2),
            other="eviction of a request",
        ),
        Term(
            "recompute",
            "Recompute",
            "Preemption that forgets: when the request is admitted again, its prompt and its output so far are read "
            "anew.",
            Words(
                "always",
                "always, except for what the tree still holds",
                "always, except for blocks that are found again",
            ),
            lab(THRASHING, "timeline", 2),
        ),
        Term(
            "swap",
            "Swap",
            "Preemption that keeps: the blocks are copied to the memory of the computer, and back later.",
            Words(
                "`--swap-space`, until V1",
                "",
                "not for pauses; `host_cache_size` keeps blocks for reuse",
                "",
                "not for busy slots; `--cache-ram` keeps idle ones",
            ),
        ),
        Term(
            "retraction",
            "Retraction",
            "Preemption in SGLang: of those who decode, the one with the shortest output goes, to the end of the line.",
            Words(
                "preemption",
                "`retract_decode()`, `sglang:num_retracted_requests_total`",
                "pause",
            ),
        ),
        Term(
            "gqa",
            "GQA, MQA",
            "Attention in which several query heads share one head of keys and values (all of them in MQA), so that a "
            "token takes less KV cache.",
            Words(_KV_HEADS, _KV_HEADS, _KV_HEADS, _KV_HEADS, "`attention.head_count_kv` in the GGUF file"),
            lab(_GQA, "memory", 1),
            other="grouped-query, multi-query attention",
        ),
        Term(
            "mla",
            "MLA",
            "Attention that keeps for each token and layer one short vector, from which keys and values are made when "
            "they are needed.",
            Words("`MLAAttentionSpec`", "`MLATokenToKVPool`", "`kv_lora_rank`", "", "`attention.kv_lora_rank`"),
            lab(_MLA, "memory", 1),
            other="multi-head latent attention",
        ),
        Term(
            "fp8-kv",
            "FP8 KV",
            "Keeping the KV cache in numbers of 8 bits instead of 16, so that twice as many tokens fit.",
            Words(
                "`--kv-cache-dtype fp8`",
                "`--kv-cache-dtype fp8_e4m3`",
                "`--kv_cache_dtype fp8`",
                "`--kv-cache-dtype fp8_e4m3fn`",
                "`--cache-type-k q8_0`, `--cache-type-v q8_0`: 8 bits in another form",
            ),
            lab(_FP8, "memory", 1),
        ),
    ),
)
