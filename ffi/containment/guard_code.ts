/*
 * Three functions of machine code, Linux only, that native code calls on whatever thread it happens to be on: no JavaScript may run there. They share two
 * blocks of memory, laid out as below. `guard_x86_64.S` and `guard_aarch64.S` are their source; a test assembles it.
 *
 *   log    void (int level, const char *text, void *)   a `ggml_log_callback`: notes the line
 *   abort   void (const char *text)                      a `ggml_abort_callback`: notes it; on a thread without the mark also writes it to stderr
 *   park   void (int signal)                            SIGABRT's handler: a thread with the mark is noted and sleeps for ever; another ends the process
 */

/** The first eight characters of the name of each thread that may be parked: no program is called that. */
export const MARK_TEXT = "ggmlffi:";
const MARK = 0x3a69_6666_6c6d_6767n;

/** Offsets in the shared block, in bytes. */
export const SEQUENCE = 0,
  LEAST_LEVEL = 4,
  PARKED_COUNT = 8,
  NEWLINE = 12,
  PARKED = 64,
  RECORDS = 4096;
/** The number of parked threads and of lines that are remembered. */
export const PARKED_SLOTS = 512,
  RECORD_SLOTS = 512;
/** A record: its number + 1, its level, its thread, the length of its text, and the text. */
export const RECORD_SIZE = 512,
  RECORD_LEVEL = 4,
  RECORD_TID = 8,
  RECORD_LENGTH = 12,
  RECORD_TEXT = 16;
/** The offset of the block for messages of aborts, laid out like the first: the lines of other threads don't push them out. */
export const ABORTS: number = RECORDS + RECORD_SLOTS * RECORD_SIZE;
/** The size of both blocks. */
export const BLOCK_SIZE: number = 2 * ABORTS;

/** Machine code, and where its functions begin in it. */
export interface GuardCode {
  /** The code. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Offset of `log`. */
  readonly log: number;
  /** Offset of `abort`. */
  readonly abort: number;
  /** Offset of `park`. */
  readonly park: number;
  /** Offset of a place that holds the address of the block, eight bytes. */
  readonly data: number;
}

/** The code for a processor, with the address of the block that it works on; `undefined` for a processor without. */
export function guardCode(arch: string, data: bigint): GuardCode | undefined {
  if (arch === "x64") return { bytes: x86(data), log: 0, abort: 0x11, park: 0xcf, data: 2 };
  if (arch !== "arm64") return undefined;
  const bytes = arm(data);
  return { bytes, log: 0, abort: 20, park: 228, data: bytes.length - 16 };
}

function word(value: bigint): Uint8Array {
  return new Uint8Array(BigUint64Array.of(value).buffer);
}

function x86(data: bigint): Uint8Array<ArrayBuffer> {
  // deno-fmt-ignore
  return new Uint8Array([
    // log:
    0x49, 0xb8, ...word(data), 0x41, 0x3b, 0x78, 0x04, // movabs r8,data; cmp edi,[r8+0x4]
    0x7d, 0x6b, 0xc3, // jge record; ret
    // abort:
    0x49, 0xb8, ...word(data + BigInt(ABORTS)), 0x57, 0x48, 0x89, 0xfe, // movabs r8,aborts; push rdi; mov rsi,rdi
    0xbf, 0x64, 0x00, 0x00, 0x00, 0xe8, 0x52, 0x00, 0x00, 0x00, // mov edi,0x64; call record
    0x41, 0x89, 0xc9, 0xe8, 0x23, 0x00, 0x00, 0x00, 0x5e, // mov r9d,ecx; call named; pop rsi
    0x74, 0x1f, 0xbf, 0x02, 0x00, 0x00, 0x00, 0x44, 0x89, 0xca, // je abort+0x42; mov edi,0x2; mov edx,r9d
    0xb8, 0x01, 0x00, 0x00, 0x00, 0x0f, 0x05, 0x49, 0x8d, 0x70, 0x0c, // mov eax,0x1; syscall; lea rsi,[r8+0xc]
    0xba, 0x01, 0x00, 0x00, 0x00, 0xb8, 0x01, 0x00, 0x00, 0x00, 0x0f, 0x05, // mov edx,0x1; mov eax,0x1; syscall
    0xc3, // ret
    // named:
    0x48, 0x83, 0xec, 0x18, 0xb8, 0x9d, 0x00, 0x00, 0x00, // sub rsp,0x18; mov eax,0x9d
    0xbf, 0x10, 0x00, 0x00, 0x00, 0x48, 0x89, 0xe6, 0x0f, 0x05, // mov edi,0x10; mov rsi,rsp; syscall
    0x48, 0xb8, ...word(MARK), 0x48, 0x39, 0x04, 0x24, // movabs rax,MARK; cmp [rsp],rax
    0x48, 0x8d, 0x64, 0x24, 0x18, 0xc3, // lea rsp,[rsp+0x18]; ret
    // record:
    0xb8, 0x01, 0x00, 0x00, 0x00, 0xf0, 0x41, 0x0f, 0xc1, 0x00, // mov eax,0x1; lock xadd [r8],eax
    0x41, 0x89, 0xc1, 0x25, 0xff, 0x01, 0x00, 0x00, 0xc1, 0xe0, 0x09, // mov r9d,eax; and eax,0x1ff; shl eax,0x9
    0x4d, 0x8d, 0x94, 0x00, 0x00, 0x10, 0x00, 0x00, // lea r10,[r8+rax*1+0x1000]
    0x41, 0x89, 0x7a, 0x04, 0xb8, 0xba, 0x00, 0x00, 0x00, 0x0f, 0x05, // mov [r10+0x4],edi; mov eax,0xba; syscall
    0x41, 0x89, 0x42, 0x08, 0x31, 0xc9, 0x48, 0x85, 0xf6, // mov [r10+0x8],eax; xor ecx,ecx; test rsi,rsi
    0x74, 0x16, 0x8a, 0x04, 0x0e, 0x84, 0xc0, // je record+0x49; mov al,[rsi+rcx*1]; test al,al
    0x74, 0x0f, 0x41, 0x88, 0x44, 0x0a, 0x10, 0xff, 0xc1, // je record+0x49; mov [r10+rcx*1+0x10],al; inc ecx
    0x81, 0xf9, 0xf0, 0x01, 0x00, 0x00, 0x72, 0xea, // cmp ecx,0x1f0; jb record+0x33
    0x41, 0x89, 0x4a, 0x0c, 0x41, 0xff, 0xc1, 0x45, 0x89, 0x0a, // mov [r10+0xc],ecx; inc r9d; mov [r10],r9d
    0xc3, // ret
    // park:
    0x49, 0xb8, ...word(data), 0xe8, 0x76, 0xff, 0xff, 0xff, // movabs r8,data; call named
    0x75, 0x26, 0xb8, 0xba, 0x00, 0x00, 0x00, 0x0f, 0x05, // jne park+0x37; mov eax,0xba; syscall
    0xba, 0x01, 0x00, 0x00, 0x00, 0xf0, 0x41, 0x0f, 0xc1, 0x50, 0x08, // mov edx,0x1; lock xadd [r8+0x8],edx
    0x81, 0xe2, 0xff, 0x01, 0x00, 0x00, 0x41, 0x89, 0x44, 0x90, 0x40, // and edx,0x1ff; mov [r8+rdx*4+0x40],eax
    0xb8, 0x22, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xeb, 0xf7, // mov eax,0x22; syscall; jmp park+0x2e
    0xb8, 0x0d, 0x00, 0x00, 0x00, 0xbf, 0x06, 0x00, 0x00, 0x00, // mov eax,0xd; mov edi,0x6
    0x49, 0x8d, 0x70, 0x10, 0x31, 0xd2, // lea rsi,[r8+0x10]; xor edx,edx
    0x41, 0xba, 0x08, 0x00, 0x00, 0x00, 0x0f, 0x05, // mov r10d,0x8; syscall
    0xb8, 0x27, 0x00, 0x00, 0x00, 0x0f, 0x05, 0x89, 0xc7, // mov eax,0x27; syscall; mov edi,eax
    0xb8, 0xba, 0x00, 0x00, 0x00, 0x0f, 0x05, 0x89, 0xc6, // mov eax,0xba; syscall; mov esi,eax
    0xba, 0x06, 0x00, 0x00, 0x00, 0xb8, 0xea, 0x00, 0x00, 0x00, 0x0f, 0x05, // mov edx,0x6; mov eax,0xea; syscall
    0xc3, // ret
  ]);
}

function arm(data: bigint): Uint8Array<ArrayBuffer> {
  // deno-fmt-ignore
  const code = Uint32Array.of(
    // log:
    0x58000c89, 0xb940052a, 0x6b0a001f, 0x540003ca, // ldr x9, data; ldr w10, [x9, #4]; cmp w0, w10; b.ge record
    0xd65f03c0, // ret
    // abort:
    0xa9bf03fe, 0x58000c09, 0xaa0003e1, // stp x30, x0, [sp, #-16]!; ldr x9, aborts; mov x1, x0
    0x52800c80, 0x94000018, 0x9400000d, 0xa8c107fe, // mov w0, #100; bl record; bl named; ldp x30, x1, [sp], #16
    0x54000140, 0xd2800040, 0xaa0c03e2, 0xd2800808, // b.eq 9f; mov x0, #2; mov x2, x12; mov x8, #64
    0xd4000001, 0x58000a61, 0x91003021, 0xd2800040, // svc #0; ldr x1, data; add x1, x1, #12; mov x0, #2
    0xd2800022, 0xd4000001, 0xd65f03c0, // mov x2, #1; svc #0; ret
    // named:
    0xd10083ff, 0xd28014e8, 0xd2800200, 0x910003e1, // sub sp, sp, #32; mov x8, #167; mov x0, #16; mov x1, sp
    0xd4000001, 0xf94003ea, 0x580008ab, 0xeb0b015f, // svc #0; ldr x10, [sp]; ldr x11, name; cmp x10, x11
    0x910083ff, 0xd65f03c0, // add sp, sp, #32; ret
    // record:
    0x885ffd2a, 0x1100054b, 0x880cfd2b, // ldaxr w10, [x9]; add w11, w10, #1; stlxr w12, w11, [x9]
    0x35ffffac, 0x1200214a, 0x5317594a, // cbnz w12, 1b; and w10, w10, #511; lsl w10, w10, #9
    0x9140054a, 0x8b0a0129, 0xb9000520, // add x10, x10, #4096; add x9, x9, x10; str w0, [x9, #4]
    0xd2801648, 0xd4000001, 0xb9000920, 0x5280000c, // mov x8, #178; svc #0; str w0, [x9, #8]; mov w12, #0
    0x9100412d, 0xb40000e1, 0x386c682e, // add x13, x9, #16; cbz x1, 3f; ldrb w14, [x1, x12]
    0x340000ae, 0x382c69ae, 0x1100058c, // cbz w14, 3f; strb w14, [x13, x12]; add w12, w12, #1
    0x7107c19f, 0x54ffff63, 0xb9000d2c, 0x889ffd2b, // cmp w12, #496; b.lo 2b; str w12, [x9, #12]; stlr w11, [x9]
    0xd65f03c0, // ret
    // park:
    0xaa1e03ef, 0x58000549, 0x97ffffdc, 0xaa0f03fe, // mov x15, x30; ldr x9, data; bl named; mov x30, x15
    0x54000261, 0xd2801648, 0xd4000001, 0x9100212c, // b.ne 6f; mov x8, #178; svc #0; add x12, x9, #8
    0x885ffd8a, 0x1100054b, 0x880dfd8b, // ldaxr w10, [x12]; add w11, w10, #1; stlxr w13, w11, [x12]
    0x35ffffad, 0x1200214a, 0x91010129, // cbnz w13, 4b; and w10, w10, #511; add x9, x9, #64
    0xb82a7920, 0xd2800000, 0xd2800001, // str w0, [x9, x10, lsl #2]; mov x0, #0; mov x1, #0
    0xd2800002, 0xd2800003, 0xd2800004, 0xd2800928, // mov x2, #0; mov x3, #0; mov x4, #0; mov x8, #73
    0xd4000001, 0x17fffff9, 0xd28000c0, 0x91004121, // svc #0; b 5b; mov x0, #6; add x1, x9, #16
    0xd2800002, 0xd2800103, 0xd28010c8, 0xd4000001, // mov x2, #0; mov x3, #8; mov x8, #134; svc #0
    0xd2801588, 0xd4000001, 0xaa0003ea, 0xd2801648, // mov x8, #172; svc #0; mov x10, x0; mov x8, #178
    0xd4000001, 0xaa0003e1, 0xaa0a03e0, 0xd28000c2, // svc #0; mov x1, x0; mov x0, x10; mov x2, #6
    0xd2801068, 0xd4000001, 0xd65f03c0, // mov x8, #131; svc #0; ret
    0xd503201f, // nop, so that the three constants are aligned
  );
  const bytes = new Uint8Array(code.byteLength + 24);
  bytes.set(new Uint8Array(code.buffer));
  bytes.set(word(MARK), code.byteLength);
  bytes.set(word(data), code.byteLength + 8);
  bytes.set(word(data + BigInt(ABORTS)), code.byteLength + 16);
  return bytes;
}
