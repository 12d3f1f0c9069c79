// Operators that take each element by itself.
#include "ops.h"
#include "tensors.h"

#include <math.h>

bool takes_binary(const struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    return is_float(node->type) && is_float(a->type) && is_float(b->type) && ggml_are_same_shape(a, node) && ggml_can_repeat(b, a);
}

static float combine(enum ggml_op op, float a, float b) {
    switch (op) {
        case GGML_OP_ADD: return a + b;
        case GGML_OP_SUB: return a - b;
        case GGML_OP_MUL: return a * b;
        default: return a / b;
    }
}

enum ggml_status compute_binary(struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    FOR_ELEMENTS(node) {
        const float y = load(b, i0 % b->ne[0], i1 % b->ne[1], i2 % b->ne[2], i3 % b->ne[3]);
        store(node, i0, i1, i2, i3, combine(node->op, load(a, i0, i1, i2, i3), y));
    }
    return GGML_STATUS_SUCCESS;
}

static bool takes_floats(const struct ggml_tensor * node) {
    return is_float(node->type) && is_float(node->src[0]->type) && ggml_are_same_shape(node->src[0], node);
}

bool takes_map(const struct ggml_tensor * node) {
    return takes_floats(node);
}

static float mapped(const struct ggml_tensor * node, float x) {
    switch (node->op) {
        case GGML_OP_SQR: return x * x;
        case GGML_OP_SQRT: return sqrtf(x);
        case GGML_OP_LOG: return logf(x);
        case GGML_OP_SIN: return sinf(x);
        case GGML_OP_COS: return cosf(x);
        default: return x > 0 ? x : x * param_f32(node, 0);
    }
}

enum ggml_status compute_map(struct ggml_tensor * node) {
    FOR_ELEMENTS(node) {
        store(node, i0, i1, i2, i3, mapped(node, load(node->src[0], i0, i1, i2, i3)));
    }
    return GGML_STATUS_SUCCESS;
}

static float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

static float gelu(float x) {
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

static float gelu_erf(float x) {
    return 0.5f * x * (1.0f + erff(x * 0.7071067812f));
}

static float gelu_quick(float x) {
    return x * sigmoid(1.702f * x);
}

static float hard_sigmoid(float x) {
    return fminf(1.0f, fmaxf(0.0f, (x + 3.0f) / 6.0f));
}

static float unary(enum ggml_unary_op op, float x) {
    switch (op) {
        case GGML_UNARY_OP_ABS: return fabsf(x);
        case GGML_UNARY_OP_SGN: return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f;
        case GGML_UNARY_OP_NEG: return -x;
        case GGML_UNARY_OP_STEP: return x > 0 ? 1.0f : 0.0f;
        case GGML_UNARY_OP_TANH: return tanhf(x);
        case GGML_UNARY_OP_ELU: return x > 0 ? x : expm1f(x);
        case GGML_UNARY_OP_RELU: return x > 0 ? x : 0.0f;
        case GGML_UNARY_OP_SIGMOID: return sigmoid(x);
        case GGML_UNARY_OP_GELU: return gelu(x);
        case GGML_UNARY_OP_GELU_QUICK: return gelu_quick(x);
        case GGML_UNARY_OP_GELU_ERF: return gelu_erf(x);
        case GGML_UNARY_OP_SILU: return x * sigmoid(x);
        case GGML_UNARY_OP_HARDSWISH: return x * hard_sigmoid(x);
        case GGML_UNARY_OP_HARDSIGMOID: return hard_sigmoid(x);
        case GGML_UNARY_OP_EXP: return expf(x);
        case GGML_UNARY_OP_EXPM1: return expm1f(x);
        case GGML_UNARY_OP_SOFTPLUS: return x > 20.0f ? x : log1pf(expf(x));
        case GGML_UNARY_OP_FLOOR: return floorf(x);
        case GGML_UNARY_OP_CEIL: return ceilf(x);
        case GGML_UNARY_OP_ROUND: return roundf(x);
        case GGML_UNARY_OP_TRUNC: return truncf(x);
        default: return NAN;
    }
}

bool takes_unary(const struct ggml_tensor * node) {
    const enum ggml_unary_op op = ggml_get_unary_op(node);
    return takes_floats(node) && op < GGML_UNARY_OP_COUNT && op != GGML_UNARY_OP_XIELU;
}

enum ggml_status compute_unary(struct ggml_tensor * node) {
    const enum ggml_unary_op op = ggml_get_unary_op(node);
    FOR_ELEMENTS(node) {
        store(node, i0, i1, i2, i3, unary(op, load(node->src[0], i0, i1, i2, i3)));
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_glu(const struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    switch (ggml_get_glu_op(node)) {
        case GGML_GLU_OP_REGLU:
        case GGML_GLU_OP_GEGLU:
        case GGML_GLU_OP_SWIGLU:
        case GGML_GLU_OP_SWIGLU_OAI:
        case GGML_GLU_OP_GEGLU_ERF:
        case GGML_GLU_OP_GEGLU_QUICK: break;
        default: return false;
    }
    return is_float(node->type) && is_float(a->type) && (b == NULL || (is_float(b->type) && ggml_are_same_shape(a, b)));
}

static float gated(const struct ggml_tensor * node, float x, float gate) {
    switch (ggml_get_glu_op(node)) {
        case GGML_GLU_OP_REGLU: return (x > 0 ? x : 0.0f) * gate;
        case GGML_GLU_OP_GEGLU: return gelu(x) * gate;
        case GGML_GLU_OP_GEGLU_ERF: return gelu_erf(x) * gate;
        case GGML_GLU_OP_GEGLU_QUICK: return gelu_quick(x) * gate;
        case GGML_GLU_OP_SWIGLU_OAI: {
            const float alpha = param_f32(node, 2);
            const float limit = param_f32(node, 3);
            const float low   = fminf(x, limit);
            return low * sigmoid(alpha * low) * (fminf(limit, fmaxf(-limit, gate)) + 1.0f);
        }
        default: return x * sigmoid(x) * gate;
    }
}

enum ggml_status compute_glu(struct ggml_tensor * node) {
    const struct ggml_tensor * a = node->src[0];
    const struct ggml_tensor * b = node->src[1];
    const bool swapped = param_i32(node, 1) != 0;
    const int64_t half = node->ne[0];
    FOR_ELEMENTS(node) {
        float x, gate;
        if (b != NULL) {
            x    = load(a, i0, i1, i2, i3);
            gate = load(b, i0, i1, i2, i3);
        } else {
            x    = load(a, i0 + (swapped ? half : 0), i1, i2, i3);
            gate = load(a, i0 + (swapped ? 0 : half), i1, i2, i3);
        }
        store(node, i0, i1, i2, i3, gated(node, x, gate));
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_scale(const struct ggml_tensor * node) {
    return takes_floats(node);
}

enum ggml_status compute_scale(struct ggml_tensor * node) {
    const float factor = param_f32(node, 0);
    const float shift  = param_f32(node, 1);
    FOR_ELEMENTS(node) {
        store(node, i0, i1, i2, i3, factor * load(node->src[0], i0, i1, i2, i3) + shift);
    }
    return GGML_STATUS_SUCCESS;
}

bool takes_clamp(const struct ggml_tensor * node) {
    return takes_floats(node);
}

enum ggml_status compute_clamp(struct ggml_tensor * node) {
    const float low  = param_f32(node, 0);
    const float high = param_f32(node, 1);
    FOR_ELEMENTS(node) {
        store(node, i0, i1, i2, i3, fmaxf(low, fminf(high, load(node->src[0], i0, i1, i2, i3))));
    }
    return GGML_STATUS_SUCCESS;
}
