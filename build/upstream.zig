//! What the build takes from the pinned sources: their lists of files, their versions, their commit.
const std = @import("std");
const Build = std.Build;

pub const root = "csrc/upstream/llama.cpp";

/// A file or folder of the pinned sources.
pub fn path(b: *Build, sub_path: []const u8) Build.LazyPath {
    return b.path(b.fmt("{s}/{s}", .{ root, sub_path }));
}

/// The C and C++ files of one folder, sorted, as paths inside the sources; files whose names are in `except` are left out.
pub fn sources(b: *Build, folder: []const u8, except: []const []const u8) []const []const u8 {
    const io = b.graph.io;
    b.dependOnDirectoryContents(path(b, folder));
    var dir = b.root.openDir(io, b.fmt("{s}/{s}", .{ root, folder }), .{ .iterate = true }) catch |err| missing(folder, err);
    defer dir.close(io);
    var files: std.ArrayList([]const u8) = .empty;
    var entries = dir.iterate();
    while (entries.next(io) catch |err| missing(folder, err)) |entry| {
        if (!isSource(entry.name) or contains(except, entry.name)) continue;
        files.append(b.allocator, b.fmt("{s}/{s}", .{ folder, entry.name })) catch @panic("OOM");
    }
    for (except) |name| if (!isSource(name)) std.process.fatal("{s}: not a source file", .{name});
    std.mem.sort([]const u8, files.items, {}, lessThan);
    return files.items;
}

pub const Version = struct { ggml: []const u8, llama: []const u8, commit: []const u8 };

pub fn version(b: *Build) Version {
    return .{
        .ggml = cmakeVersion(b, root, "ggml/CMakeLists.txt", "GGML"),
        .llama = cmakeVersion(b, root, "CMakeLists.txt", "LLAMA"),
        .commit = pinnedCommit(b)[0..7],
    };
}

/// Upstream's CMake file says `set(NAME_VERSION_MAJOR 0)`, and so on for MINOR and PATCH.
pub fn cmakeVersion(b: *Build, folder: []const u8, file: []const u8, name: []const u8) []const u8 {
    const text = read(b, b.fmt("{s}/{s}", .{ folder, file }));
    var parts: [3][]const u8 = undefined;
    for ([_][]const u8{ "MAJOR", "MINOR", "PATCH" }, &parts) |part, *number| {
        const start = b.fmt("set({s}_VERSION_{s} ", .{ name, part });
        const at = std.mem.find(u8, text, start) orelse std.process.fatal("{s}: no line \"{s}…\"", .{ file, start });
        const rest = text[at + start.len ..];
        number.* = rest[0 .. std.mem.findScalar(u8, rest, ')') orelse 0];
    }
    return b.fmt("{s}.{s}.{s}", .{ parts[0], parts[1], parts[2] });
}

fn pinnedCommit(b: *Build) []const u8 {
    const Pins = struct { @"llama.cpp": struct { commit: []const u8 } };
    const text = read(b, "csrc/sources.json");
    const pins = std.json.parseFromSliceLeaky(Pins, b.allocator, text, .{ .ignore_unknown_fields = true }) catch |err|
        std.process.fatal("csrc/sources.json: {t}", .{err});
    return pins.@"llama.cpp".commit;
}

/// The text of a file of this tree. When it changes, the build is made anew.
pub fn read(b: *Build, file: []const u8) []const u8 {
    b.dependOnFileContents(b.path(file));
    const full = b.root.joinString(b.allocator, file) catch @panic("OOM");
    return std.Io.Dir.cwd().readFileAlloc(b.graph.io, full, b.allocator, .limited(1 << 20)) catch |err| missing(file, err);
}

fn missing(what: []const u8, err: anyerror) noreturn {
    std.process.fatal("{s}: {t}. Bring the pinned sources with: npm run setup", .{ what, err });
}

fn isSource(name: []const u8) bool {
    return std.mem.endsWith(u8, name, ".c") or std.mem.endsWith(u8, name, ".cpp");
}

fn contains(names: []const []const u8, name: []const u8) bool {
    return for (names) |n| {
        if (std.mem.eql(u8, n, name)) break true;
    } else false;
}

fn lessThan(_: void, a: []const u8, b: []const u8) bool {
    return std.mem.lessThan(u8, a, b);
}
