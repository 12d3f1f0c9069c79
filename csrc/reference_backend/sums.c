// Operators that look at whole rows.
#include "ops.h"
#include "tensors.h"

#include <math.h>
#include <stdlib.h>

static bool takes_f32(const struct ggml_tensor * node) {
    return node->type == GGML_TYPE_F32 && node->src[0]->type == GGML_TYPE_F32;
}

bool takes_sum(const struct ggml_tensor * node) {
    return takes_f32(node);
}

enum ggml_status compute_sum(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    double sum = 0;
    FOR_ELEMENTS(from) {
        sum += load(from, i0, i1, i2, i3);
    }
    store(node, 0, 0, 0, 0, (float) sum);
    return GGML_STATUS_SUCCESS;
}

// SUM_ROWS, MEAN, CUMSUM
bool takes_sum_rows(const struct ggml_tensor * node) {
    return takes_f32(node);
}

enum ggml_status compute_sum_rows(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    FOR_ROWS(from) {
        double sum = 0;
        for (int64_t i0 = 0; i0 < from->ne[0]; i0++) {
            sum += load(from, i0, i1, i2, i3);
            if (node->op == GGML_OP_CUMSUM) {
                store(node, i0, i1, i2, i3, (float) sum);
            }
        }
        if (node->op != GGML_OP_CUMSUM) {
            store(node, 0, i1, i2, i3, (float) (node->op == GGML_OP_MEAN ? sum / (double) from->ne[0] : sum));
        }
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_argmax(const struct ggml_tensor * node) {
    return node->type == GGML_TYPE_I32 && node->src[0]->type == GGML_TYPE_F32 && ggml_is_matrix(node->src[0]);
}

enum ggml_status compute_argmax(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    for (int64_t i1 = 0; i1 < from->ne[1]; i1++) {
        int64_t best = 0;
        for (int64_t i0 = 1; i0 < from->ne[0]; i0++) {
            if (load(from, i0, i1, 0, 0) > load(from, best, i1, 0, 0)) {
                best = i0;
            }
        }
        *(int32_t *) at(node, i1, 0, 0, 0) = (int32_t) best;
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_argsort(const struct ggml_tensor * node) {
    return node->type == GGML_TYPE_I32 && node->src[0]->type == GGML_TYPE_F32;
}

struct entry {
    float value;
    int32_t index;
};

static int compare(const void * a, const void * b) {
    const struct entry * x = a;
    const struct entry * y = b;
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return x->index - y->index;
}

enum ggml_status compute_argsort(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    const float sign = param_i32(node, 0) == GGML_SORT_ORDER_DESC ? -1.0f : 1.0f;
    struct entry * entries = malloc((size_t) from->ne[0] * sizeof *entries);
    if (entries == NULL) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    FOR_ROWS(node) {
        for (int64_t i0 = 0; i0 < from->ne[0]; i0++) {
            entries[i0] = (struct entry) { sign * load(from, i0, i1, i2, i3), (int32_t) i0 };
        }
        qsort(entries, (size_t) from->ne[0], sizeof *entries, compare);
        for (int64_t i0 = 0; i0 < node->ne[0]; i0++) {
            *(int32_t *) at(node, i0, i1, i2, i3) = entries[i0].index;
        }
    }
    free(entries);
    return GGML_STATUS_SUCCESS;
}

// NORM, RMS_NORM, L2_NORM
bool takes_norm(const struct ggml_tensor * node) {
    return takes_f32(node);
}

enum ggml_status compute_norm(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    const double eps = param_f32(node, 0);
    const double count = (double) from->ne[0];
    FOR_ROWS(node) {
        double sum = 0;
        for (int64_t i0 = 0; i0 < from->ne[0] && node->op == GGML_OP_NORM; i0++) {
            sum += load(from, i0, i1, i2, i3);
        }
        const double mean = sum / count;
        double squares = 0;
        for (int64_t i0 = 0; i0 < from->ne[0]; i0++) {
            const double x = load(from, i0, i1, i2, i3) - mean;
            squares += x * x;
        }
        const double scale = node->op == GGML_OP_L2_NORM ? 1.0 / fmax(sqrt(squares), eps) : 1.0 / sqrt(squares / count + eps);
        for (int64_t i0 = 0; i0 < from->ne[0]; i0++) {
            store(node, i0, i1, i2, i3, (float) ((load(from, i0, i1, i2, i3) - mean) * scale));
        }
    }
    return GGML_STATUS_SUCCESS;
}

float bias_slope(int64_t head, int64_t heads, float max_bias) {
    if (max_bias <= 0) {
        return 1.0f;
    }
    int64_t power = 1;
    while (power * 2 <= heads) {
        power *= 2;
    }
    const float first  = powf(2.0f, -max_bias / (float) power);
    const float second = powf(2.0f, -max_bias / 2.0f / (float) power);
    return head < power ? powf(first, (float) (head + 1)) : powf(second, (float) (2 * (head - power) + 1));
}

bool takes_soft_max(const struct ggml_tensor * node) {
    const struct ggml_tensor * mask = node->src[1];
    const struct ggml_tensor * sinks = node->src[2];
    return takes_f32(node) && (mask == NULL || is_float(mask->type)) && (sinks == NULL || sinks->type == GGML_TYPE_F32);
}

enum ggml_status compute_soft_max(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    const struct ggml_tensor * mask = node->src[1];
    const struct ggml_tensor * sinks = node->src[2];
    const float scale = param_f32(node, 0);
    double * scores = malloc((size_t) from->ne[0] * sizeof(double));
    if (scores == NULL) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    FOR_ROWS(node) {
        const float slope = bias_slope(i2, from->ne[2], param_f32(node, 1));
        double most = sinks != NULL ? load(sinks, i2, 0, 0, 0) : -INFINITY;
        for (int64_t i0 = 0; i0 < from->ne[0]; i0++) {
            scores[i0] = (double) load(from, i0, i1, i2, i3) * scale;
            if (mask != NULL) {
                scores[i0] += (double) slope * load(mask, i0, i1, i2 % mask->ne[2], i3 % mask->ne[3]);
            }
            most = fmax(most, scores[i0]);
        }
        double sum = sinks != NULL ? exp(load(sinks, i2, 0, 0, 0) - most) : 0;
        for (int64_t i0 = 0; i0 < from->ne[0]; i0++) {
            scores[i0] = exp(scores[i0] - most);
            sum += scores[i0];
        }
        for (int64_t i0 = 0; i0 < from->ne[0]; i0++) {
            store(node, i0, i1, i2, i3, (float) (scores[i0] / sum));
        }
    }
    free(scores);
    return GGML_STATUS_SUCCESS;
}

// DIAG_MASK_INF, DIAG_MASK_ZERO
bool takes_diag_mask(const struct ggml_tensor * node) {
    return takes_f32(node);
}

enum ggml_status compute_diag_mask(struct ggml_tensor * node) {
    const int32_t past = param_i32(node, 0);
    const float masked = node->op == GGML_OP_DIAG_MASK_INF ? -INFINITY : 0.0f;
    FOR_ELEMENTS(node) {
        store(node, i0, i1, i2, i3, i0 > past + i1 ? masked : load(node->src[0], i0, i1, i2, i3));
    }
    return GGML_STATUS_SUCCESS;
}
