/* The guard's functions for AArch64, as guard_code.ts has their bytes. DATA is the address of the block, ABORTS the offset of the messages of aborts. */

/* void log(int level, const char *text, void *) */
log:
  ldr x9, data
  ldr w10, [x9, #4] /* LEAST_LEVEL */
  cmp w0, w10
  b.ge record
  ret

/* void abort(const char *text) */
abort:
  stp x30, x0, [sp, #-16]!
  ldr x9, aborts
  mov x1, x0
  mov w0, #100
  bl record
  bl named
  ldp x30, x1, [sp], #16
  b.eq 1f
  mov x0, #2 /* stderr */
  mov x2, x12
  mov x8, #64 /* write */
  svc #0
  ldr x1, data
  add x1, x1, #12 /* NEWLINE */
  mov x0, #2
  mov x2, #1
  svc #0
1:
  ret

/* Sets the zero flag on a thread whose name begins with the mark. */
named:
  sub sp, sp, #32
  mov x8, #167 /* prctl */
  mov x0, #16 /* PR_GET_NAME */
  mov x1, sp
  svc #0
  ldr x10, [sp]
  ldr x11, mark
  cmp x10, x11
  add sp, sp, #32
  ret

/* Notes the text x1 at level w0 in the block x9; w12 becomes its length. */
record:
2:
  ldaxr w10, [x9] /* SEQUENCE */
  add w11, w10, #1
  stlxr w12, w11, [x9]
  cbnz w12, 2b
  and w10, w10, #511 /* RECORD_SLOTS - 1 */
  lsl w10, w10, #9 /* RECORD_SIZE */
  add x10, x10, #1, lsl #12 /* RECORDS */
  add x9, x9, x10
  str w0, [x9, #4] /* RECORD_LEVEL */
  mov x8, #178 /* gettid */
  svc #0
  str w0, [x9, #8] /* RECORD_TID */
  mov w12, #0
  add x13, x9, #16 /* RECORD_TEXT */
  cbz x1, 4f
3:
  ldrb w14, [x1, x12]
  cbz w14, 4f
  strb w14, [x13, x12]
  add w12, w12, #1
  cmp w12, #496
  b.lo 3b
4:
  str w12, [x9, #12] /* RECORD_LENGTH */
  stlr w11, [x9] /* last: the record is whole */
  ret

/* void park(int signal) */
park:
  mov x15, x30
  ldr x9, data
  bl named
  mov x30, x15
  b.ne 7f
  mov x8, #178 /* gettid */
  svc #0
  add x12, x9, #8 /* PARKED_COUNT */
5:
  ldaxr w10, [x12]
  add w11, w10, #1
  stlxr w13, w11, [x12]
  cbnz w13, 5b
  and w10, w10, #511 /* PARKED_SLOTS - 1 */
  add x9, x9, #64 /* PARKED */
  str w0, [x9, x10, lsl #2]
6:
  mov x0, #0
  mov x1, #0
  mov x2, #0
  mov x3, #0
  mov x4, #0
  mov x8, #73 /* ppoll */
  svc #0
  b 6b
7:
  mov x0, #6 /* SIGABRT */
  add x1, x9, #16 /* zeros: the default action */
  mov x2, #0
  mov x3, #8
  mov x8, #134 /* rt_sigaction */
  svc #0
  mov x8, #172 /* getpid */
  svc #0
  mov x10, x0
  mov x8, #178 /* gettid */
  svc #0
  mov x1, x0
  mov x0, x10
  mov x2, #6 /* SIGABRT */
  mov x8, #131 /* tgkill */
  svc #0
  ret
  nop

mark:
  .quad 0x3a6966666c6d6767 /* "ggmlffi:" */
data:
  .quad DATA
aborts:
  .quad DATA + ABORTS
