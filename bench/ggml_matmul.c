/*
 * The measure that our own graphs are held against: a product of matrices by ggml's graph API in C, on the same libraries. No part of the product.
 *
 *   ggml_matmul CPU_MODULE THREADS SIZE
 *
 * It prints {"ready":true} and then answers each line of its standard input, "f32" or "q4_0", with the milliseconds of one product and the sum of its
 * first row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

struct product {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *result;
    ggml_backend_buffer_t buffer;
};

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* The same numbers as the other side makes. */
static float value(long long i) { return (float)((i * 37) % 101) / 101.0f - 0.5f; }

static struct product make(ggml_backend_t backend, enum ggml_type type, long long n) {
    struct ggml_init_params params = {16 * ggml_tensor_overhead() + ggml_graph_overhead(), NULL, true};
    struct product p;
    p.ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(p.ctx, type, n, n);
    struct ggml_tensor *b = ggml_new_tensor_2d(p.ctx, GGML_TYPE_F32, n, n);
    p.result = ggml_mul_mat(p.ctx, a, b);
    p.graph = ggml_new_graph(p.ctx);
    ggml_build_forward_expand(p.graph, p.result);
    p.buffer = ggml_backend_alloc_ctx_tensors(p.ctx, backend);
    float *values = malloc((size_t)(n * n) * sizeof(float));
    for (long long i = 0; i < n * n; i++) values[i] = value(i);
    ggml_backend_tensor_set(b, values, 0, ggml_nbytes(b));
    void *bytes = malloc(ggml_nbytes(a));
    ggml_quantize_chunk(type, values, bytes, 0, n, n, NULL);
    ggml_backend_tensor_set(a, bytes, 0, ggml_nbytes(a));
    free(bytes);
    free(values);
    return p;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    if (ggml_backend_load(argv[1]) == NULL) return 1;
    ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);
    ggml_backend_set_n_threads_t set_threads = (ggml_backend_set_n_threads_t)ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device), "ggml_backend_set_n_threads");
    set_threads(backend, atoi(argv[2]));
    const long long n = atoll(argv[3]);
    struct product plain = make(backend, GGML_TYPE_F32, n), quantized = make(backend, GGML_TYPE_Q4_0, n);
    float *row = malloc((size_t)n * sizeof(float));
    char line[64];
    printf("{\"ready\":true}\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct product *p = strncmp(line, "q4_0", 4) == 0 ? &quantized : &plain;
        const double start = now_ms();
        if (ggml_backend_graph_compute(backend, p->graph) != GGML_STATUS_SUCCESS) return 1;
        const double ms = now_ms() - start;
        double sum = 0;
        ggml_backend_tensor_get(p->result, row, 0, (size_t)n * sizeof(float));
        for (long long i = 0; i < n; i++) sum += row[i];
        printf("{\"ms\":%.3f,\"sum\":%.4f}\n", ms, sum);
        fflush(stdout);
    }
    return 0;
}
