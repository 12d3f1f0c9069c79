// Products of matrices.
#include "ops.h"
#include "tensors.h"

#include <stdlib.h>

static double dot(const float * a, const float * b, int64_t count) {
    double sums[4] = { 0 };
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int j = 0; j < 4; j++) {
            sums[j] += (double) a[i + j] * b[i + j];
        }
    }
    for (; i < count; i++) {
        sums[0] += (double) a[i] * b[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

bool takes_mul_mat(const struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    return node->type == GGML_TYPE_F32 && is_readable(a->type) && is_float(b->type) && (is_float(a->type) || has_rows(a)) &&
           a->ne[0] == b->ne[0] && b->ne[2] % a->ne[2] == 0 && b->ne[3] % a->ne[3] == 0;
}

enum ggml_status compute_mul_mat(struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    const int64_t count = a->ne[0];
    float * room = malloc(2 * (size_t) count * sizeof(float));
    if (room == NULL) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    for (int64_t i3 = 0; i3 < node->ne[3]; i3++) {
        for (int64_t i2 = 0; i2 < node->ne[2]; i2++) {
            for (int64_t i0 = 0; i0 < node->ne[0]; i0++) {
                const float * weights = row(a, i0, i2 / (b->ne[2] / a->ne[2]), i3 / (b->ne[3] / a->ne[3]), room);
                for (int64_t i1 = 0; i1 < node->ne[1]; i1++) {
                    store(node, i0, i1, i2, i3, (float) dot(weights, row(b, i1, i2, i3, room + count), count));
                }
            }
        }
    }
    free(room);
    return GGML_STATUS_SUCCESS;
}

bool takes_mul_mat_id(const struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    const struct ggml_tensor * ids = node->src[2];
    return node->type == GGML_TYPE_F32 && is_readable(a->type) && has_rows(a) && is_float(b->type) && ids->type == GGML_TYPE_I32;
}

// Each row of b is multiplied by the matrices that its ids name.
enum ggml_status compute_mul_mat_id(struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    const struct ggml_tensor * ids = node->src[2];
    const int64_t count = a->ne[0];
    float * room = malloc(2 * (size_t) count * sizeof(float));
    if (room == NULL) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    for (int64_t i2 = 0; i2 < node->ne[2]; i2++) {
        for (int64_t i1 = 0; i1 < node->ne[1]; i1++) {
            const int64_t id = load_index(ids, i1, i2, 0, 0);
            if (id < 0 || id >= a->ne[2]) {
                free(room);
                return GGML_STATUS_FAILED;
            }
            const float * values = row(b, i1 % b->ne[1], i2, 0, room + count);
            for (int64_t i0 = 0; i0 < node->ne[0]; i0++) {
                store(node, i0, i1, i2, 0, (float) dot(row(a, i0, id, 0, room), values, count));
            }
        }
    }
    free(room);
    return GGML_STATUS_SUCCESS;
}

bool takes_out_prod(const struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    return node->type == GGML_TYPE_F32 && is_float(a->type) && is_float(b->type) && a->ne[1] == b->ne[1] &&
           b->ne[2] % a->ne[2] == 0 && b->ne[3] % a->ne[3] == 0;
}

enum ggml_status compute_out_prod(struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    FOR_ELEMENTS(node) {
        double sum = 0;
        for (int64_t k = 0; k < a->ne[1]; k++) {
            sum += (double) load(a, i0, k, i2 / (b->ne[2] / a->ne[2]), i3 / (b->ne[3] / a->ne[3])) * load(b, i1, k, i2, i3);
        }
        store(node, i0, i1, i2, i3, (float) sum);
    }
    return GGML_STATUS_SUCCESS;
}
