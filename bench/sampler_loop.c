/*
 * The measure that our own sampling is held against: the way of llama.cpp's common sampler on its C API. The chain chooses; the grammar is asked about
 * that one token, and about all tokens when it refuses it; then the chain chooses again. No part of the product.
 *
 *   sampler_loop MODEL BACKEND_FOLDER THREADS TOKENS GRAMMAR_FILE|- PROMPT TEMPERATURE SEED…
 *
 * Prints one line of JSON for each seed: milliseconds of the decodes and of the sampling, tokens, and how often the grammar refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-backend.h"
#include "llama.h"

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
    fprintf(stderr, "sampler_loop: %s\n", what);
    exit(1);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) die("the grammar can't be read");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t) size + 1);
    if (fread(text, 1, (size_t) size, file) != (size_t) size) die("the grammar can't be read");
    fclose(file);
    return text;
}

static struct llama_sampler *make_chain(float temperature, unsigned seed) {
    struct llama_sampler *chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
    if (temperature <= 0.0f) {
        llama_sampler_chain_add(chain, llama_sampler_init_greedy());
        return chain;
    }
    llama_sampler_chain_add(chain, llama_sampler_init_top_k(40));
    llama_sampler_chain_add(chain, llama_sampler_init_top_p(0.95f, 0));
    llama_sampler_chain_add(chain, llama_sampler_init_min_p(0.05f, 0));
    llama_sampler_chain_add(chain, llama_sampler_init_temp_ext(temperature, 0.0f, 1.0f));
    llama_sampler_chain_add(chain, llama_sampler_init_dist(seed));
    return chain;
}

static llama_token_data_array fill(llama_token_data *data, const float *logits, int size) {
    for (int i = 0; i < size; i++) data[i] = (llama_token_data){ i, logits[i], 0.0f };
    return (llama_token_data_array){ data, (size_t) size, -1, false };
}

static llama_token sample(struct llama_sampler *chain, struct llama_sampler *grammar, struct llama_context *context,
                          llama_token_data *data, int size, int *refused) {
    const float *logits = llama_get_logits_ith(context, -1);
    llama_token_data_array all = fill(data, logits, size);
    llama_sampler_apply(chain, &all);
    llama_token token = all.data[all.selected].id;
    if (!grammar) return token;
    llama_token_data single = { token, 1.0f, 0.0f };
    llama_token_data_array one = { &single, 1, -1, false };
    llama_sampler_apply(grammar, &one);
    if (single.logit != -INFINITY) return token;
    ++*refused;
    all = fill(data, logits, size);
    llama_sampler_apply(grammar, &all);
    llama_sampler_apply(chain, &all);
    return all.data[all.selected].id;
}

int main(int argc, char **argv) {
    if (argc < 9) die("usage: sampler_loop MODEL BACKEND_FOLDER THREADS TOKENS GRAMMAR_FILE|- PROMPT TEMPERATURE SEED…");
    llama_log_set(quiet, NULL);
    ggml_backend_load_all_from_path(argv[2]);
    llama_backend_init();
    struct llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
    if (!model) die("the model could not be loaded");
    struct llama_context_params params = llama_context_default_params();
    params.n_threads = params.n_threads_batch = atoi(argv[3]);
    params.n_ctx = params.n_batch = 1024;
    struct llama_context *context = llama_init_from_model(model, params);
    if (!context) die("the context could not be made");
    const struct llama_vocab *vocab = llama_model_get_vocab(model);
    int most = atoi(argv[4]), size = llama_vocab_n_tokens(vocab);
    char *text = strcmp(argv[5], "-") ? read_file(argv[5]) : NULL;
    llama_token prompt[512];
    int n = llama_tokenize(vocab, argv[6], (int) strlen(argv[6]), prompt, 512, true, true);
    if (n <= 0) die("the prompt could not be tokenized");
    llama_token_data *data = malloc(sizeof *data * (size_t) size);

    for (int run = 8; run < argc; run++) {
        struct llama_sampler *chain = make_chain((float) atof(argv[7]), (unsigned) atoi(argv[run]));
        struct llama_sampler *grammar = text ? llama_sampler_init_grammar(vocab, text, "root") : NULL;
        if (text && !grammar) die("the grammar can't be used");
        llama_memory_clear(llama_get_memory(context), true);
        if (llama_decode(context, llama_batch_get_one(prompt, n))) die("decode failed");
        double decode_ms = 0, sample_ms = 0;
        int count = 0, refused = 0;
        while (count < most) {
            llama_synchronize(context);
            double start = now_ms();
            llama_token token = sample(chain, grammar, context, data, size, &refused);
            llama_sampler_accept(chain, token);
            int end = llama_vocab_is_eog(vocab, token);
            if (!end && grammar) llama_sampler_accept(grammar, token);
            double sampled = now_ms();
            sample_ms += sampled - start;
            count++;
            if (end) break;
            if (llama_decode(context, llama_batch_get_one(&token, 1))) die("decode failed");
            llama_synchronize(context);
            decode_ms += now_ms() - sampled;
        }
        printf("{\"tokens\":%d,\"decodeMs\":%.3f,\"sampleMs\":%.3f,\"refused\":%d}\n", count, decode_ms, sample_ms, refused);
        fflush(stdout);
        llama_sampler_free(chain);
        llama_sampler_free(grammar);
    }
    free(data);
    free(text);
    llama_free(context);
    llama_model_free(model);
    return 0;
}
