// Operators that move elements, change their type, or make them from nothing.
#include "ops.h"
#include "tensors.h"

#include <stdlib.h>

static bool is_plain(enum ggml_type type) {
    return ggml_blck_size(type) == 1;
}

// Between types of whole elements each element goes by itself; types with blocks go row by row.
bool takes_copy(const struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    if (ggml_nelements(from) != ggml_nelements(node)) {
        return false;
    }
    if (is_plain(from->type) && from->type == node->type) {
        return true;
    }
    const bool readable = is_float(from->type) || from->type == GGML_TYPE_I32;
    const bool writable = is_float(node->type) || node->type == GGML_TYPE_I32;
    if (readable && writable) {
        return true;
    }
    return ggml_are_same_shape(from, node) && has_rows(from) && has_rows(node) && is_readable(from->type) && is_writable(node->type);
}

// A place in a tensor that is walked element by element.
struct cursor {
    const struct ggml_tensor * tensor;
    int64_t i[4];
};

static void step(struct cursor * c) {
    for (int d = 0; d < 4; d++) {
        if (++c->i[d] < c->tensor->ne[d]) {
            return;
        }
        c->i[d] = 0;
    }
}

static void copy_elements(const struct ggml_tensor * from, struct ggml_tensor * to) {
    struct cursor a = { from, { 0 } };
    struct cursor b = { to, { 0 } };
    const size_t size = ggml_type_size(to->type);
    for (int64_t left = ggml_nelements(from); left > 0; left--, step(&a), step(&b)) {
        if (from->type == to->type) {
            memcpy(at(to, b.i[0], b.i[1], b.i[2], b.i[3]), at(from, a.i[0], a.i[1], a.i[2], a.i[3]), size);
        } else {
            store(to, b.i[0], b.i[1], b.i[2], b.i[3], load(from, a.i[0], a.i[1], a.i[2], a.i[3]));
        }
    }
}

enum ggml_status compute_copy(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    if (is_plain(from->type) && is_plain(node->type)) {
        copy_elements(from, node);
        return GGML_STATUS_SUCCESS;
    }
    if (from->type == node->type) {
        FOR_ROWS(node) {
            memmove(at(node, 0, i1, i2, i3), at(from, 0, i1, i2, i3), ggml_row_size(node->type, node->ne[0]));
        }
        return GGML_STATUS_SUCCESS;
    }
    float * room = malloc((size_t) node->ne[0] * sizeof(float));
    if (room == NULL) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    FOR_ROWS(node) {
        store_row(node, i1, i2, i3, row(from, i1, i2, i3, room));
    }
    free(room);
    return GGML_STATUS_SUCCESS;
}

bool takes_get_rows(const struct ggml_tensor * node) {
    const struct ggml_tensor * table = node->src[0];
    if (table->type == GGML_TYPE_I32) {
        return node->type == GGML_TYPE_I32 && is_index(node->src[1]->type);
    }
    return node->type == GGML_TYPE_F32 && is_readable(table->type) && has_rows(table) && has_rows(node) && is_index(node->src[1]->type);
}

enum ggml_status compute_get_rows(struct ggml_tensor * node) {
    const struct ggml_tensor * table = node->src[0];
    FOR_ROWS(node) {
        const int64_t index = load_index(node->src[1], i1, i2, i3, 0);
        if (index < 0 || index >= table->ne[1]) {
            return GGML_STATUS_FAILED;
        }
        if (table->type == GGML_TYPE_I32) {
            for (int64_t i0 = 0; i0 < node->ne[0]; i0++) {
                *(int32_t *) at(node, i0, i1, i2, i3) = *(const int32_t *) at(table, i0, index, i2, i3);
            }
            continue;
        }
        float * to = (float *) at(node, 0, i1, i2, i3);
        const float * from = row(table, index, i2, i3, to);
        if (from != to) {
            memcpy(to, from, (size_t) node->ne[0] * sizeof(float));
        }
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_set_rows(const struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    return is_float(from->type) && has_rows(from) && has_rows(node) && is_writable(node->type) && is_index(node->src[1]->type);
}

enum ggml_status compute_set_rows(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    const struct ggml_tensor * indices = node->src[1];
    float * room = malloc((size_t) node->ne[0] * sizeof(float));
    if (room == NULL) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    FOR_ROWS(from) {
        const int64_t index = load_index(indices, i1, i2 % indices->ne[1], i3 % indices->ne[2], 0);
        if (index < 0 || index >= node->ne[1]) {
            free(room);
            return GGML_STATUS_FAILED;
        }
        store_row(node, index, i2, i3, row(from, i1, i2, i3, room));
    }
    free(room);
    return GGML_STATUS_SUCCESS;
}

static bool takes_same_plain_type(const struct ggml_tensor * node) {
    return is_plain(node->type) && node->src[0]->type == node->type;
}

static void copy_one(const struct ggml_tensor * node, int64_t i0, int64_t i1, int64_t i2, int64_t i3, const char * from) {
    memcpy(at(node, i0, i1, i2, i3), from, ggml_type_size(node->type));
}

bool takes_repeat(const struct ggml_tensor * node) {
    return takes_same_plain_type(node) && ggml_can_repeat(node->src[0], node);
}

enum ggml_status compute_repeat(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    FOR_ELEMENTS(node) {
        copy_one(node, i0, i1, i2, i3, at(from, i0 % from->ne[0], i1 % from->ne[1], i2 % from->ne[2], i3 % from->ne[3]));
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_concat(const struct ggml_tensor * node) {
    return takes_same_plain_type(node) && node->src[1]->type == node->type;
}

enum ggml_status compute_concat(struct ggml_tensor * node) {
    const int dim = param_i32(node, 0);
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    FOR_ELEMENTS(node) {
        int64_t i[4] = { i0, i1, i2, i3 };
        const struct ggml_tensor * from = i[dim] < a->ne[dim] ? a : b;
        if (from == b) {
            i[dim] -= a->ne[dim];
        }
        copy_one(node, i0, i1, i2, i3, at(from, i[0], i[1], i[2], i[3]));
    }
    return GGML_STATUS_SUCCESS;
}

// SET puts the second tensor into a part of the first one, ACC adds it there.
bool takes_set(const struct ggml_tensor * node) {
    const struct ggml_tensor * part = node->src[1];
    return node->type == GGML_TYPE_F32 && node->src[0]->type == GGML_TYPE_F32 && part->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(node) && ggml_is_contiguous(node->src[0]);
}

enum ggml_status compute_set(struct ggml_tensor * node) {
    const struct ggml_tensor * part = node->src[1];
    if (node->data != node->src[0]->data) {
        memcpy(node->data, node->src[0]->data, ggml_nbytes(node));
    }
    FOR_ELEMENTS(part) {
        float * to = (float *) ((char *) node->data + param_i32(node, 3) + (size_t) i0 * sizeof(float) + (size_t) i1 * param_i32(node, 0) +
                                (size_t) i2 * param_i32(node, 1) + (size_t) i3 * param_i32(node, 2));
        const float value = load(part, i0, i1, i2, i3);
        *to = node->op == GGML_OP_ACC ? *to + value : value;
    }
    return GGML_STATUS_SUCCESS;
}

// Zeros around; not the kind that wraps around.
bool takes_pad(const struct ggml_tensor * node) {
    return node->type == GGML_TYPE_F32 && node->src[0]->type == GGML_TYPE_F32 && param_i32(node, 8) == 0;
}

enum ggml_status compute_pad(struct ggml_tensor * node) {
    const struct ggml_tensor * from = node->src[0];
    FOR_ELEMENTS(node) {
        const int64_t j[4] = { i0 - param_i32(node, 0), i1 - param_i32(node, 2), i2 - param_i32(node, 4), i3 - param_i32(node, 6) };
        bool inside = true;
        for (int d = 0; d < 4; d++) {
            inside = inside && j[d] >= 0 && j[d] < from->ne[d];
        }
        store(node, i0, i1, i2, i3, inside ? load(from, j[0], j[1], j[2], j[3]) : 0.0f);
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_arange(const struct ggml_tensor * node) {
    return node->type == GGML_TYPE_F32;
}

enum ggml_status compute_arange(struct ggml_tensor * node) {
    for (int64_t i0 = 0; i0 < node->ne[0]; i0++) {
        store(node, i0, 0, 0, 0, param_f32(node, 0) + param_f32(node, 2) * (float) i0);
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_fill(const struct ggml_tensor * node) {
    return is_float(node->type);
}

enum ggml_status compute_fill(struct ggml_tensor * node) {
    FOR_ELEMENTS(node) {
        store(node, i0, i1, i2, i3, param_f32(node, 0));
    }
    return GGML_STATUS_SUCCESS;
}
