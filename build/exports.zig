//! What a DLL exports: the functions of ffi/tables, and the few of upstream's internal ones by which its libraries use one another.
//! Upstream marks none under MinGW, and then the linker exports everything, `atexit` too, and dependents clash.
const std = @import("std");
const Build = std.Build;
const upstream = @import("upstream.zig");

const Library = struct { name: []const u8, table: []const u8, internal: []const []const u8 = &.{} };

const libraries = [_]Library{
    .{ .name = "ggml-base", .table = "ggml_base", .internal = &.{
        "ggml_abort",             "ggml_aligned_free",      "ggml_aligned_malloc",   "ggml_critical_section_end", "ggml_critical_section_start",
        "ggml_format_name",       "ggml_log_internal",      "quantize_iq4_xs",       "quantize_row_iq4_nl_ref",   "quantize_row_mxfp4_ref",
        "quantize_row_nvfp4_ref", "quantize_row_q1_0_ref",  "quantize_row_q2_0_ref", "quantize_row_q2_K_ref",     "quantize_row_q3_K_ref",
        "quantize_row_q4_0_ref",  "quantize_row_q4_1_ref",  "quantize_row_q4_K_ref", "quantize_row_q5_0_ref",     "quantize_row_q5_1_ref",
        "quantize_row_q5_K_ref",  "quantize_row_q6_K_ref",  "quantize_row_q8_0_ref", "quantize_row_q8_1_ref",     "quantize_row_q8_K_ref",
        "quantize_row_tq1_0_ref", "quantize_row_tq2_0_ref",
    } },
    .{ .name = "ggml", .table = "ggml" },
    .{ .name = "ggml-cpu", .table = "ggml_cpu", .internal = &.{ "ggml_backend_init", "ggml_backend_score" } },
    .{ .name = "ggml-rpc", .table = "ggml_rpc", .internal = &.{"ggml_backend_init"} },
    .{ .name = "llama", .table = "llama", .internal = &.{"_Z24llama_model_get_tok_embdPK11llama_modelPf"} },
    .{ .name = "mtmd", .table = "mtmd" },
    .{ .name = "whisper", .table = "whisper" },
    .{ .name = "parakeet", .table = "parakeet" },
};

/// A C file that tells the linker what the DLL `name` exports. Zig's cache heeds what is in it, unlike a module definition file.
pub fn source(b: *Build, name: []const u8) Build.LazyPath {
    const library = of(name);
    var text: std.ArrayList(u8) = .empty;
    append(b, &text, "__asm__(\".section .drectve,\\\"yn\\\"\\n\"\n");
    var lines = std.mem.splitScalar(u8, upstream.read(b, b.fmt("ffi/tables/{s}.ts", .{library.table})), '\n');
    var count: usize = 0;
    while (lines.next()) |line| {
        // An entry of the table: `  llama_free: "v p",`
        if (!std.mem.startsWith(u8, line, "  ")) continue;
        const end = std.mem.find(u8, line, ": \"") orelse continue;
        append(b, &text, directive(b, line[2..end]));
        count += 1;
    }
    if (count == 0) std.process.fatal("ffi/tables/{s}.ts has no entry", .{library.table});
    for (library.internal) |symbol| append(b, &text, directive(b, symbol));
    append(b, &text, "    \".text\\n\");\n");
    return b.addWriteFiles().add(b.fmt("exports-{s}.c", .{library.name}), text.items);
}

fn directive(b: *Build, symbol: []const u8) []const u8 {
    return b.fmt("    \".ascii \\\" -export:{s}\\\"\\n\"\n", .{symbol});
}

/// Each CPU variant exports the same.
fn of(name: []const u8) Library {
    const wanted = if (std.mem.startsWith(u8, name, "ggml-cpu-")) "ggml-cpu" else name;
    for (libraries) |library| if (std.mem.eql(u8, library.name, wanted)) return library;
    std.process.fatal("build/exports.zig doesn't know what {s} exports", .{name});
}

fn append(b: *Build, text: *std.ArrayList(u8), part: []const u8) void {
    text.appendSlice(b.allocator, part) catch @panic("OOM");
}
