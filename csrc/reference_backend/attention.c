// Positions and attention.
#include "ops.h"
#include "tensors.h"

#include <math.h>
#include <stdlib.h>

// ROPE, ROPE_BACK: the plain and the NeoX kind.
bool takes_rope(const struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    const struct ggml_tensor * factors = node->src[2];
    const int32_t dims = param_i32(node, 1);
    const int32_t mode = param_i32(node, 2);
    return is_float(node->type) && node->type == from->type && node->src[1]->type == GGML_TYPE_I32 &&
           (factors == NULL || factors->type == GGML_TYPE_F32) && (mode == GGML_ROPE_TYPE_NORMAL || mode == GGML_ROPE_TYPE_NEOX) &&
           dims > 0 && dims % 2 == 0 && dims <= node->ne[0] && param_i32(node, 15) == 0;
}

struct turn {
    float cosine, sine;
};

// The angle of a pair of elements at a position, stretched as YaRN does.
static struct turn turn_of(const struct ggml_tensor * node, int64_t position, int64_t pair, const float corrections[2]) {
    const struct ggml_tensor * factors = node->src[2];
    const double base = param_f32(node, 5);
    const double scale = param_f32(node, 6);
    const double mix = param_f32(node, 7);
    double magnitude = param_f32(node, 8);
    double angle = (double) position * pow(base, -2.0 * (double) pair / param_i32(node, 1));
    if (factors != NULL) {
        angle /= load(factors, pair, 0, 0, 0);
    }
    double stretched = angle * scale;
    if (mix != 0) {
        const double along = ((double) pair - corrections[0]) / fmax(0.001, (double) corrections[1] - corrections[0]);
        const double ramp = (1.0 - fmin(1.0, fmax(0.0, along))) * mix;
        stretched = stretched * (1.0 - ramp) + angle * ramp;
        magnitude *= 1.0 + 0.1 * log(1.0 / scale);
    }
    const double sign = node->op == GGML_OP_ROPE_BACK ? -1.0 : 1.0;
    return (struct turn) { (float) (cos(stretched) * magnitude), (float) (sign * sin(stretched) * magnitude) };
}

enum ggml_status compute_rope(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    const int64_t pairs = param_i32(node, 1) / 2;
    const bool neox = param_i32(node, 2) == GGML_ROPE_TYPE_NEOX;
    float corrections[2];
    ggml_rope_yarn_corr_dims(param_i32(node, 1), param_i32(node, 4), param_f32(node, 5), param_f32(node, 9), param_f32(node, 10), corrections);
    struct turn * turns = malloc((size_t) pairs * sizeof *turns);
    if (turns == NULL) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    for (int64_t i2 = 0; i2 < node->ne[2]; i2++) {
        for (int64_t pair = 0; pair < pairs; pair++) {
            turns[pair] = turn_of(node, load_index(node->src[1], i2, 0, 0, 0), pair, corrections);
        }
        for (int64_t i3 = 0; i3 < node->ne[3]; i3++) {
            for (int64_t i1 = 0; i1 < node->ne[1]; i1++) {
                for (int64_t pair = 0; pair < pairs; pair++) {
                    const int64_t a = neox ? pair : 2 * pair;
                    const int64_t b = neox ? pair + pairs : 2 * pair + 1;
                    const float x = load(from, a, i1, i2, i3);
                    const float y = load(from, b, i1, i2, i3);
                    store(node, a, i1, i2, i3, x * turns[pair].cosine - y * turns[pair].sine);
                    store(node, b, i1, i2, i3, x * turns[pair].sine + y * turns[pair].cosine);
                }
                for (int64_t i0 = 2 * pairs; i0 < node->ne[0]; i0++) {
                    store(node, i0, i1, i2, i3, load(from, i0, i1, i2, i3));
                }
            }
        }
    }
    free(turns);
    return GGML_STATUS_SUCCESS;
}

bool takes_flash_attention(const struct ggml_tensor * node) {
    const struct ggml_tensor * q = node->src[0];
    const struct ggml_tensor * k = node->src[1];
    const struct ggml_tensor * v = node->src[2];
    const struct ggml_tensor * mask = node->src[3];
    const struct ggml_tensor * sinks = node->src[4];
    return node->type == GGML_TYPE_F32 && is_float(q->type) && is_readable(k->type) && is_readable(v->type) && has_rows(k) && has_rows(v) &&
           (mask == NULL || is_float(mask->type)) && (sinks == NULL || sinks->type == GGML_TYPE_F32) &&
           q->ne[2] % k->ne[2] == 0 && q->ne[2] % v->ne[2] == 0 && k->ne[1] == v->ne[1];
}

// What one query makes of all keys and values; `scores` has room for each key, `sums` for a value, `room` for a row of each.
static void attend(struct ggml_tensor * node, int64_t query, int64_t head, int64_t batch, double * scores, double * sums, float * room) {
    const struct ggml_tensor * q = node->src[0];
    const struct ggml_tensor * k = node->src[1];
    const struct ggml_tensor * v = node->src[2];
    const struct ggml_tensor * mask = node->src[3];
    const struct ggml_tensor * sinks = node->src[4];
    const double cap = param_f32(node, 2);
    const double slope = bias_slope(head, q->ne[2], param_f32(node, 1));
    const int64_t size = q->ne[0];
    const float * wanted = row(q, query, head, batch, room);
    double most = sinks != NULL ? load(sinks, head, 0, 0, 0) : -INFINITY;
    for (int64_t i = 0; i < k->ne[1]; i++) {
        const float * key = row(k, i, head / (q->ne[2] / k->ne[2]), batch / (q->ne[3] / k->ne[3]), room + size);
        double score = 0;
        for (int64_t j = 0; j < size; j++) {
            score += (double) wanted[j] * key[j];
        }
        score *= param_f32(node, 0);
        if (cap != 0) {
            score = cap * tanh(score / cap);
        }
        if (mask != NULL) {
            score += slope * load(mask, i, query, head % mask->ne[2], batch % mask->ne[3]);
        }
        scores[i] = score;
        most = fmax(most, score);
    }
    double total = sinks != NULL ? exp(load(sinks, head, 0, 0, 0) - most) : 0;
    memset(sums, 0, (size_t) v->ne[0] * sizeof(double));
    for (int64_t i = 0; i < v->ne[1]; i++) {
        const double weight = exp(scores[i] - most);
        if (!(weight > 0)) {
            continue;
        }
        total += weight;
        const float * value = row(v, i, head / (q->ne[2] / v->ne[2]), batch / (q->ne[3] / v->ne[3]), room);
        for (int64_t j = 0; j < v->ne[0]; j++) {
            sums[j] += weight * value[j];
        }
    }
    for (int64_t j = 0; j < v->ne[0]; j++) {
        store(node, j, head, query, batch, (float) (total > 0 ? sums[j] / total : 0));
    }
}

enum ggml_status compute_flash_attention(struct ggml_tensor * node) {
    const struct ggml_tensor * q = node->src[0];
    const struct ggml_tensor * k = node->src[1];
    const struct ggml_tensor * v = node->src[2];
    const size_t row_room = (size_t) (2 * q->ne[0] + v->ne[0]);
    double * doubles = malloc((size_t) (k->ne[1] + v->ne[0]) * sizeof(double));
    float * room = malloc(row_room * sizeof(float));
    if (doubles == NULL || room == NULL) {
        free(doubles);
        free(room);
        return GGML_STATUS_ALLOC_FAILED;
    }
    for (int64_t batch = 0; batch < q->ne[3]; batch++) {
        for (int64_t head = 0; head < q->ne[2]; head++) {
            for (int64_t query = 0; query < q->ne[1]; query++) {
                attend(node, query, head, batch, doubles, doubles + k->ne[1], room);
            }
        }
    }
    free(doubles);
    free(room);
    return GGML_STATUS_SUCCESS;
}
