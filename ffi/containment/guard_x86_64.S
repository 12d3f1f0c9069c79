/* The guard's functions for x86-64, as guard_code.ts has their bytes. DATA is the address of the block, ABORTS the offset of the messages of aborts. */
.intel_syntax noprefix
.equ MARK, 0x3a6966666c6d6767 /* "ggmlffi:" */

/* void log(int level, const char *text, void *) */
log:
  movabs r8, DATA
  cmp edi, [r8 + 4] /* LEAST_LEVEL */
  jge record
  ret

/* void abort(const char *text) */
abort:
  movabs r8, DATA + ABORTS
  push rdi
  mov rsi, rdi
  mov edi, 100
  call record
  mov r9d, ecx
  call named
  pop rsi
  je 1f
  mov edi, 2 /* stderr */
  mov edx, r9d
  mov eax, 1 /* write */
  syscall
  lea rsi, [r8 + 12] /* NEWLINE */
  mov edx, 1
  mov eax, 1
  syscall
1:
  ret

/* Sets the zero flag on a thread whose name begins with the mark. */
named:
  sub rsp, 24
  mov eax, 157 /* prctl */
  mov edi, 16 /* PR_GET_NAME */
  mov rsi, rsp
  syscall
  movabs rax, MARK
  cmp [rsp], rax
  lea rsp, [rsp + 24]
  ret

/* Notes the text rsi at level edi in the block r8; ecx becomes its length. */
record:
  mov eax, 1
  lock xadd [r8], eax /* SEQUENCE */
  mov r9d, eax
  and eax, 511 /* RECORD_SLOTS - 1 */
  shl eax, 9 /* RECORD_SIZE */
  lea r10, [r8 + rax + 4096] /* RECORDS */
  mov [r10 + 4], edi /* RECORD_LEVEL */
  mov eax, 186 /* gettid */
  syscall
  mov [r10 + 8], eax /* RECORD_TID */
  xor ecx, ecx
  test rsi, rsi
  je 3f
2:
  mov al, [rsi + rcx]
  test al, al
  je 3f
  mov [r10 + rcx + 16], al /* RECORD_TEXT */
  inc ecx
  cmp ecx, 496
  jb 2b
3:
  mov [r10 + 12], ecx /* RECORD_LENGTH */
  inc r9d
  mov [r10], r9d /* last: the record is whole */
  ret

/* void park(int signal) */
park:
  movabs r8, DATA
  call named
  jne 5f
  mov eax, 186 /* gettid */
  syscall
  mov edx, 1
  lock xadd [r8 + 8], edx /* PARKED_COUNT */
  and edx, 511 /* PARKED_SLOTS - 1 */
  mov [r8 + rdx * 4 + 64], eax /* PARKED */
4:
  mov eax, 34 /* pause */
  syscall
  jmp 4b
5:
  mov eax, 13 /* rt_sigaction */
  mov edi, 6 /* SIGABRT */
  lea rsi, [r8 + 16] /* zeros: the default action */
  xor edx, edx
  mov r10d, 8
  syscall
  mov eax, 39 /* getpid */
  syscall
  mov edi, eax
  mov eax, 186 /* gettid */
  syscall
  mov esi, eax
  mov edx, 6 /* SIGABRT */
  mov eax, 234 /* tgkill */
  syscall
  ret
