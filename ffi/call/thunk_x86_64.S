/* void thunk(block *rdi) for x86-64, as thunk.ts has its bytes: loads every argument register and the stack from the block, calls, stores the results. */
.intel_syntax noprefix
.equ FUNCTION, 0
.equ STACK_WORDS, 8
.equ STACK, 16
.equ INTEGERS, 24
.equ FLOATS, 96
.equ RESULT_INTEGERS, 160
.equ RESULT_FLOATS, 176

thunk:
  push rbp
  mov rbp, rsp
  push rbx
  sub rsp, 8
  mov rbx, rdi
  mov rcx, [rbx + STACK_WORDS]
  mov rdx, [rbx + STACK]
1:
  test rcx, rcx
  je 2f
  dec rcx
  push qword ptr [rdx + rcx * 8]
  jmp 1b
2:
  {disp32} movq xmm0, qword ptr [rbx + FLOATS]
  {disp32} movq xmm1, qword ptr [rbx + FLOATS + 8]
  {disp32} movq xmm2, qword ptr [rbx + FLOATS + 16]
  {disp32} movq xmm3, qword ptr [rbx + FLOATS + 24]
  movq xmm4, qword ptr [rbx + FLOATS + 32]
  movq xmm5, qword ptr [rbx + FLOATS + 40]
  movq xmm6, qword ptr [rbx + FLOATS + 48]
  movq xmm7, qword ptr [rbx + FLOATS + 56]
  mov rdi, [rbx + INTEGERS]
  mov rsi, [rbx + INTEGERS + 8]
  mov rdx, [rbx + INTEGERS + 16]
  mov rcx, [rbx + INTEGERS + 24]
  mov r8, [rbx + INTEGERS + 32]
  mov r9, [rbx + INTEGERS + 40]
  mov eax, 8 /* vector registers in use, for variadic functions */
  call [rbx + FUNCTION]
  mov [rbx + RESULT_INTEGERS], rax
  mov [rbx + RESULT_INTEGERS + 8], rdx
  movq qword ptr [rbx + RESULT_FLOATS], xmm0
  movq qword ptr [rbx + RESULT_FLOATS + 8], xmm1
  mov rbx, [rbp - 8]
  leave
  ret
