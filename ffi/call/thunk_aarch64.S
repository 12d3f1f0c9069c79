/* void thunk(block *x0) for AArch64, as thunk.ts has its bytes: loads every argument register and the stack from the block, calls, stores the results. */
.equ FUNCTION, 0
.equ STACK_WORDS, 8
.equ INTEGERS, 24
.equ X8, 88
.equ FLOATS, 96
.equ RESULT_INTEGERS, 160
.equ RESULT_FLOATS, 176

thunk:
  stp x29, x30, [sp, #-32]!
  str x19, [sp, #16]
  mov x29, sp
  mov x19, x0
  ldp x9, x10, [x19, #STACK_WORDS]
  sub sp, sp, x9, lsl #3
1:
  cbz x9, 2f
  sub x9, x9, #1
  ldr x11, [x10, x9, lsl #3]
  str x11, [sp, x9, lsl #3]
  b 1b
2:
  ldp d0, d1, [x19, #FLOATS]
  ldp d2, d3, [x19, #FLOATS + 16]
  ldp d4, d5, [x19, #FLOATS + 32]
  ldp d6, d7, [x19, #FLOATS + 48]
  ldr x8, [x19, #X8]
  ldp x0, x1, [x19, #INTEGERS]
  ldp x2, x3, [x19, #INTEGERS + 16]
  ldp x4, x5, [x19, #INTEGERS + 32]
  ldp x6, x7, [x19, #INTEGERS + 48]
  ldr x16, [x19, #FUNCTION]
  blr x16
  stp x0, x1, [x19, #RESULT_INTEGERS]
  stp d0, d1, [x19, #RESULT_FLOATS]
  stp d2, d3, [x19, #RESULT_FLOATS + 16]
  mov sp, x29
  ldr x19, [sp, #16]
  ldp x29, x30, [sp], #32
  ret
