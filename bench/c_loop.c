/*
 * The measure that our own generation is held against: the shortest generation loop a C program would write on the same
 * libraries, with the same sampler chain. No part of the product.
 *
 *   c_loop MODEL BACKEND_FOLDER THREADS CONTEXT_SIZE BATCH_SIZE
 *
 * It loads once, prints {"ready":true,...}, and then answers each line of its standard input with one line of JSON:
 *
 *   run MAX_TOKENS TEMPERATURE TOP_K TOP_P MIN_P REPEAT_PENALTY SEED PROMPT…
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-backend.h"
#include "llama.h"

/* How many of the latest tokens the repeat penalty looks at. */
#define LAST_N 64

struct run {
    int max_tokens, top_k;
    float temperature, top_p, min_p, repeat_penalty;
    unsigned seed;
    const char *prompt;
};

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

static void quiet(enum ggml_log_level level, const char *text, void *user) {
    (void) user;
    if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static void die(const char *what) {
    fprintf(stderr, "c_loop: %s\n", what);
    exit(1);
}

/* The order and the switches of the library's own chain: what is switched off isn't in it. */
static struct llama_sampler *make_chain(const struct llama_vocab *vocab, const struct run *r) {
    struct llama_sampler *chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
    if (r->repeat_penalty != 1.0f)
        llama_sampler_chain_add(chain,
            llama_sampler_init_penalties(llama_vocab_n_tokens(vocab), LAST_N, r->repeat_penalty, 0.0f, 0.0f));
    if (r->temperature <= 0.0f) {
        llama_sampler_chain_add(chain, llama_sampler_init_greedy());
        return chain;
    }
    if (r->top_k > 0) llama_sampler_chain_add(chain, llama_sampler_init_top_k(r->top_k));
    if (r->top_p < 1.0f) llama_sampler_chain_add(chain, llama_sampler_init_top_p(r->top_p, 0));
    if (r->min_p > 0.0f) llama_sampler_chain_add(chain, llama_sampler_init_min_p(r->min_p, 0));
    if (r->temperature != 1.0f) llama_sampler_chain_add(chain, llama_sampler_init_temp_ext(r->temperature, 0.0f, 1.0f));
    llama_sampler_chain_add(chain, llama_sampler_init_dist(r->seed));
    return chain;
}

static int parse(char *line, struct run *r) {
    int used = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "run %d %f %d %f %f %f %u %n", &r->max_tokens, &r->temperature, &r->top_k, &r->top_p, &r->min_p,
               &r->repeat_penalty, &r->seed, &used) != 7) return 0;
    r->prompt = line + used;
    return used > 0 && r->max_tokens > 0;
}

static void answer(struct llama_context *context, const struct llama_vocab *vocab, const struct run *r) {
    double start = now_ms();
    int capacity = (int) strlen(r->prompt) + 8, count = 0;
    llama_token *prompt = malloc(sizeof *prompt * (size_t) capacity);
    llama_token *made = malloc(sizeof *made * (size_t) r->max_tokens);
    int n = llama_tokenize(vocab, r->prompt, (int) strlen(r->prompt), prompt, capacity, true, true);
    if (n <= 0 || !made) die("the prompt could not be tokenized");

    struct llama_sampler *chain = make_chain(vocab, r);
    llama_memory_clear(llama_get_memory(context), true);
    int batch = (int) llama_n_batch(context);
    double before_prompt = now_ms();
    for (int at = 0; at < n; at += batch)
        if (llama_decode(context, llama_batch_get_one(prompt + at, n - at < batch ? n - at : batch))) die("decode failed");
    llama_synchronize(context);
    if (r->repeat_penalty != 1.0f)
        for (int at = n > LAST_N ? n - LAST_N : 0; at < n; at++) llama_sampler_accept(chain, prompt[at]);
    double after_prompt = now_ms();

    char piece[256];
    size_t bytes = 0;
    while (count < r->max_tokens) {
        llama_token token = llama_sampler_sample(chain, context, -1);
        if (llama_vocab_is_eog(vocab, token)) break;
        int length = llama_token_to_piece(vocab, token, piece, sizeof piece, 0, false);
        if (length > 0) bytes += (size_t) length;
        made[count++] = token;
        if (count < r->max_tokens && llama_decode(context, llama_batch_get_one(&token, 1))) die("decode failed");
    }
    double end = now_ms();
    llama_sampler_free(chain);

    printf("{\"promptTokens\":%d,\"promptMs\":%.3f,\"generateMs\":%.3f,\"wholeMs\":%.3f,\"bytes\":%zu,\"tokens\":[", n,
           after_prompt - before_prompt, end - after_prompt, end - start, bytes);
    for (int i = 0; i < count; i++) printf(i ? ",%d" : "%d", made[i]);
    puts("]}");
    fflush(stdout);
    free(prompt);
    free(made);
}

int main(int argc, char **argv) {
    if (argc != 6) die("usage: c_loop MODEL BACKEND_FOLDER THREADS CONTEXT_SIZE BATCH_SIZE");
    double start = now_ms();
    llama_log_set(quiet, NULL);
    ggml_backend_load_all_from_path(argv[2]);
    llama_backend_init();
    struct llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
    if (!model) die("the model could not be loaded");
    struct llama_context_params params = llama_context_default_params();
    params.n_threads = params.n_threads_batch = atoi(argv[3]);
    params.n_ctx = (uint32_t) atoi(argv[4]);
    params.n_batch = (uint32_t) atoi(argv[5]);
    struct llama_context *context = llama_init_from_model(model, params);
    if (!context) die("the context could not be made");
    printf("{\"ready\":true,\"loadMs\":%.3f}\n", now_ms() - start);
    fflush(stdout);

    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        struct run r;
        if (!parse(line, &r)) die("not understood: a line starts with 'run' and seven numbers");
        answer(context, llama_model_get_vocab(model), &r);
    }
    free(line);
    llama_free(context);
    llama_model_free(model);
    return 0;
}
