//! Exchanges the spin in the barrier of ggml's CPU backend for csrc/barrier/barrier.h, when the pinned source is built. Each place is found by the names in
//! it; where upstream has changed one, the build ends and says which.
const std = @import("std");
const upstream = @import("upstream.zig");

const file = "ggml/src/ggml-cpu/ggml-cpu.c";
const field = "n_barrier_passed";

/// The changed source.
pub fn source(b: *std.Build) std.Build.LazyPath {
    const text = upstream.read(b, b.fmt("{s}/{s}", .{ upstream.root, file }));
    const header = upstream.read(b, "csrc/barrier/barrier.h");
    const with_field = insertAfterLine(b, text, "struct ggml_threadpool {", field, "    atomic_int n_barrier_sleeping;");
    const with_start = insertAfterLine(b, with_field, null, "threadpool->" ++ field, "    threadpool->n_barrier_sleeping = 0;");
    const with_wake = insertAfterLine(b, with_start, "void ggml_barrier(struct", "fetch_add_explicit(&tp->" ++ field ++ ", 1", "        barrier_release(&tp->n_barrier_passed, &tp->n_barrier_sleeping);");
    const changed = replaceLoop(b, with_wake);
    return b.addWriteFiles().add("ggml-cpu.c", b.fmt("{s}\n#line 1 \"ggml-cpu.c\"\n{s}", .{ header, changed }));
}

/// Puts a line behind the first one that has `mark`, after the last place that has `where`.
fn insertAfterLine(b: *std.Build, text: []const u8, where: ?[]const u8, mark: []const u8, line: []const u8) []const u8 {
    const start = if (where) |words| lastOf(text, words) else 0;
    const at = std.mem.findPos(u8, text, start, mark) orelse gone(mark);
    const end = std.mem.findScalarPos(u8, text, at, '\n') orelse gone(mark);
    return b.fmt("{s}\n{s}{s}", .{ text[0..end], line, text[end..] });
}

/// Exchanges the loop of the barrier, which waits for the field to change and pauses the processor, for the call.
fn replaceLoop(b: *std.Build, text: []const u8) []const u8 {
    const start = lastOf(text, "void ggml_barrier(struct");
    const end = std.mem.findPos(u8, text, start, "\n}\n") orelse gone("the end of ggml_barrier");
    const loop = std.mem.findPos(u8, text, start, "while (") orelse gone("the loop of ggml_barrier");
    const close = std.mem.findPos(u8, text, loop, "\n    }\n") orelse gone("the end of its loop");
    const body = text[loop..close];
    if (close > end or std.mem.find(u8, body, field ++ ",") == null or std.mem.find(u8, body, "== n_passed") == null or
        std.mem.find(u8, body, "ggml_thread_cpu_relax();") == null) gone("a loop of ggml_barrier that spins until " ++ field ++ " changes");
    const call = "barrier_wait(&tp->n_barrier_passed, n_passed, &tp->n_barrier_sleeping);";
    return b.fmt("{s}{s}{s}", .{ text[0..loop], call, text[close + "\n    }".len ..] });
}

/// Where the last place with these words is: a declaration may come before the definition.
fn lastOf(text: []const u8, words: []const u8) usize {
    return std.mem.findLast(u8, text, words) orelse gone(words);
}

fn gone(what: []const u8) noreturn {
    std.process.fatal("{s} has changed: there is no \"{s}\"; see build/barrier.zig", .{ file, what });
}
