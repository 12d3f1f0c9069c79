//! libggml-cpu-<variant>: the CPU backend, once for each kind of processor.
const std = @import("std");
const Settings = @import("library.zig").Settings;
const Variant = @import("variants.zig").Variant;
const backend_flags = @import("ggml.zig").backend_flags;
const barrier = @import("barrier.zig");
const upstream = @import("upstream.zig");

pub const Switches = struct { repack: bool, llamafile: bool };

const folder = "ggml/src/ggml-cpu";

pub fn variant(s: Settings, v: Variant, switches: Switches, base: *std.Build.Step.Compile) *std.Build.Step.Compile {
    const b = s.b;
    const arch = if (s.target.result.cpu.arch == .x86_64) "x86" else "arm";
    const arch_folder = b.fmt("{s}/arch/{s}", .{ folder, arch });
    const scorer = "cpu-feats.cpp";

    // The module itself is built for the oldest processor, so that its scorer runs on any.
    const m = s.module(s.target);
    s.add(m, &.{b.fmt("{s}/{s}", .{ arch_folder, scorer })}, flags(b, v, &.{}));
    m.linkLibrary(kernels(s, v, switches, upstream.sources(b, arch_folder, &.{scorer})));
    s.link(m, &.{base});
    if (s.target.result.os.tag == .windows) m.linkSystemLibrary("api-ms-win-core-synch-l1-2-0", .{});
    const lib = s.shared(b.fmt("ggml-cpu-{s}", .{v.name}), m, .backend);
    lib.forceUndefinedSymbol(if (s.target.result.os.tag.isDarwin()) "_ggml_backend_init" else "ggml_backend_init");
    return lib;
}

fn kernels(s: Settings, v: Variant, switches: Switches, arch_files: []const []const u8) *std.Build.Step.Compile {
    const b = s.b;
    var query = s.target.query;
    query.cpu_features_add = v.add;
    query.cpu_features_sub = v.remove;
    const m = s.module(b.resolveTargetQuery(query));
    m.addIncludePath(upstream.path(b, folder));
    var extra: std.ArrayList([]const u8) = .empty;
    if (switches.repack) extra.append(b.allocator, "-DGGML_USE_CPU_REPACK") catch @panic("OOM");
    if (switches.llamafile) extra.append(b.allocator, "-DGGML_USE_LLAMAFILE") catch @panic("OOM");
    // 512-bit registers in code that the compiler vectorises cost clock speed; the hand-written kernels use them all the same.
    if (v.has_avx512) extra.append(b.allocator, "-mprefer-vector-width=256") catch @panic("OOM");
    const f = flags(b, v, extra.items);
    s.add(m, upstream.sources(b, folder, &.{"ggml-cpu.c"}), f);
    m.addCSourceFile(.{ .file = barrier.source(b), .flags = s.flagsFor("ggml-cpu.c", f) });
    s.add(m, upstream.sources(b, folder ++ "/amx", &.{}), f);
    if (switches.llamafile) s.add(m, upstream.sources(b, folder ++ "/llamafile", &.{}), f);
    s.add(m, arch_files, f);
    return b.addLibrary(.{ .name = b.fmt("ggml-cpu-{s}-kernels", .{v.name}), .linkage = .static, .root_module = m });
}

fn flags(b: *std.Build, v: Variant, extra: []const []const u8) []const []const u8 {
    var list: std.ArrayList([]const u8) = .empty;
    list.appendSlice(b.allocator, &backend_flags) catch @panic("OOM");
    for (v.defines) |define| list.append(b.allocator, b.fmt("-D{s}", .{define})) catch @panic("OOM");
    list.appendSlice(b.allocator, extra) catch @panic("OOM");
    return list.items;
}
