//! Builds ggml, llama.cpp, mtmd, whisper.cpp and parakeet as shared libraries, from the pinned sources, for any target of build/targets.zig.
//!   zig build -Dtarget=x86_64-linux-gnu -Dvariants=native --prefix OUT
//! `npm run build` calls it, caches the result by content, and writes the manifest.
const std = @import("std");
const ggml = @import("build/ggml.zig");
const ggml_cpu = @import("build/ggml_cpu.zig");
const ggml_rpc = @import("build/ggml_rpc.zig");
const llama = @import("build/llama.zig");
const mtmd = @import("build/mtmd.zig");
const targets = @import("build/targets.zig");
const upstream = @import("build/upstream.zig");
const variants = @import("build/variants.zig");
const whisper = @import("build/whisper.zig");
const Settings = @import("build/library.zig").Settings;

comptime {
    const pinned = "0.17.1";
    if (!std.mem.eql(u8, @import("builtin").zig_version_string, pinned)) @compileError("this needs Zig " ++ pinned ++ "; npm run setup brings it");
}

pub fn build(b: *std.Build) void {
    const name = b.option(targets.Name, "target", "The target (default: this machine's)") orelse
        targets.Name.host(b.graph.host.result) orelse std.process.fatal("this machine is no target of the table; name one with -Dtarget", .{});
    const wanted = b.option([]const u8, "variants", "CPU variants: all, native (baseline and this machine's best), or a list such as x64,zen4 (default: all)") orelse "all";
    const optimize = b.option(std.builtin.Optimize, "optimize", "fast, safe, small or debug (default: fast)") orelse .fast;
    const strip = b.option(bool, "strip", "Leave out debug information (default: true)") orelse true;
    const switches: ggml_cpu.Switches = .{
        .repack = b.option(bool, "repack", "Weights rearranged at load for faster kernels (default: true)") orelse true,
        .llamafile = b.option(bool, "llamafile", "llamafile's matrix kernels (default: true). KleidiAI can't be had: no registry carries its sources") orelse true,
    };
    const amx = b.option(bool, "amx", "The variants that use Intel's AMX (default: true)") orelse true;

    const tools = b.option(bool, "tools", "Upstream's programs over whisper.cpp too, for the tests (default: false)") orelse false;

    const target = b.resolveTargetQuery(name.query());
    const s: Settings = .{ .b = b, .target = target, .optimize = optimize, .strip = strip, .generated = versionHeaders(b) };
    const base = ggml.base(s);
    for (variants.select(b, target.result, wanted, amx)) |v| _ = ggml_cpu.variant(s, v, switches, base);
    _ = ggml_rpc.backend(s, base);
    const loader = ggml.loader(s, &.{base});
    const text = llama.library(s, &.{ loader, base });
    _ = mtmd.library(s, &.{ text, loader, base });
    const speech = whisper.library(s, &.{ loader, base });
    _ = whisper.parakeet(s, &.{ loader, base });
    if (tools) whisper.programs(s, &.{ speech, loader, base });
}

fn versionHeaders(b: *std.Build) *std.Build.Step.WriteFile {
    const v = upstream.version(b);
    const files = b.addWriteFiles();
    _ = files.add("ggml-version.h", b.fmt("#define GGML_VERSION \"{s}\"\n#define GGML_COMMIT \"{s}\"\n", .{ v.ggml, v.commit }));
    _ = files.add("llama-version.h", b.fmt("#define LLAMA_VERSION \"{s}\"\n#define LLAMA_COMMIT \"{s}\"\n", .{ v.llama, v.commit }));
    return files;
}
