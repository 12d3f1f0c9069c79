//! libwhisper (speech to text) and libparakeet (another family of such models), which one package of sources carries; and upstream's programs over
//! libwhisper, which the tests compare with.
const std = @import("std");
const Compile = std.Build.Step.Compile;
const Module = std.Build.Module;
const Settings = @import("library.zig").Settings;
const upstream = @import("upstream.zig");

const root = "csrc/upstream/whisper.cpp";

pub fn library(s: Settings, libs: []const *Compile) *Compile {
    return one(s, "whisper", "WHISPER", libs);
}

pub fn parakeet(s: Settings, libs: []const *Compile) *Compile {
    return one(s, "parakeet", "PARAKEET", libs);
}

fn one(s: Settings, name: []const u8, prefix: []const u8, libs: []const *Compile) *Compile {
    const b = s.b;
    const m = s.module(s.target);
    include(s, m, &.{ "include", "src" });
    const version = upstream.cmakeVersion(b, root, "CMakeLists.txt", "WHISPER");
    addFiles(s, m, &.{b.fmt("src/{s}.cpp", .{name})}, &.{
        b.fmt("-D{s}_BUILD", .{prefix}),
        b.fmt("-D{s}_SHARED", .{prefix}),
        b.fmt("-D{s}_VERSION=\"{s}\"", .{ prefix, version }),
        "-DGGML_BACKEND_SHARED",
        "-DGGML_BACKEND_DL",
    });
    s.link(m, libs);
    return s.shared(name, m, .library);
}

/// whisper-cli and whisper-vad-speech-segments: for the tests, never part of a package.
pub fn programs(s: Settings, libs: []const *Compile) void {
    const all = [_]struct { name: []const u8, main: []const u8 }{
        .{ .name = "whisper-cli", .main = "examples/cli/cli.cpp" },
        .{ .name = "whisper-vad-speech-segments", .main = "examples/vad-speech-segments/speech.cpp" },
    };
    for (all) |program| {
        const m = s.module(s.target);
        include(s, m, &.{ "include", "examples" });
        addFiles(s, m, &.{
            program.main,                  "examples/common.cpp", "examples/common-whisper.cpp",
            "examples/grammar-parser.cpp", "examples/common-ggml.cpp",
        }, &.{ "-DWHISPER_SHARED", "-DGGML_BACKEND_SHARED", "-DGGML_BACKEND_DL" });
        s.link(m, libs);
        m.addRPathSpecial(if (s.target.result.os.tag.isDarwin()) "@loader_path" else "$ORIGIN");
        const exe = s.b.addExecutable(.{ .name = program.name, .root_module = m });
        exe.each_lib_rpath = false;
        const install = s.b.addInstallArtifact(exe, .{ .dest_dir = .{ .override = .prefix }, .pdb_dir = .disabled });
        s.b.getInstallStep().dependOn(&install.step);
    }
}

fn include(s: Settings, m: *Module, folders: []const []const u8) void {
    for (folders) |folder| m.addIncludePath(s.b.path(s.b.fmt("{s}/{s}", .{ root, folder })));
}

fn addFiles(s: Settings, m: *Module, files: []const []const u8, flags: []const []const u8) void {
    for (files) |file| {
        m.addCSourceFile(.{ .file = s.b.path(s.b.fmt("{s}/{s}", .{ root, file })), .flags = s.flagsFor(file, flags) });
    }
}
