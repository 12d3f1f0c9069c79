//! The CPU variants of variants.json, which set-up reads too: what each may use, and which of them are wanted.
const std = @import("std");
const Build = std.Build;
const Target = std.Target;
const Features = Target.Cpu.Feature.Set;

pub const Variant = struct {
    name: []const u8,
    /// Macros by which upstream's scorer learns what this variant needs.
    defines: []const []const u8,
    /// What the processor must have.
    needs: Features = .empty,
    /// What the compiler may use: `needs` and the architecture's level.
    add: Features = .empty,
    remove: Features = .empty,
    has_avx512: bool,
};

const Feature = struct { define: []const u8, cpu: []const []const u8, level: ?[]const u8 = null };
/// `features` and `without` are names with a space between them.
const Entry = struct { name: []const u8, features: []const u8, without: []const u8 = "" };
const FeatureTable = std.json.ArrayHashMap(Feature);
const Table = struct {
    features: std.json.ArrayHashMap(FeatureTable),
    variants: std.json.ArrayHashMap([]const Entry),
};

/// The variants of `target` that `wanted` names: "all", "native", or a list like "x64,zen4".
/// In the table's order, which is the order of upstream's scores: later is better.
pub fn select(b: *Build, target: Target, wanted: []const u8, amx: bool) []const Variant {
    const all = allOf(b, target, amx);
    if (std.mem.eql(u8, wanted, "all")) return all;
    if (std.mem.eql(u8, wanted, "native")) return native(b, target, all);
    var chosen: std.ArrayList(Variant) = .empty;
    var names = std.mem.splitScalar(u8, wanted, ',');
    while (names.next()) |name| chosen.append(b.allocator, find(b, all, name)) catch @panic("OOM");
    return chosen.items;
}

fn find(b: *Build, all: []const Variant, name: []const u8) Variant {
    for (all) |v| if (std.mem.eql(u8, v.name, name)) return v;
    var known: []const u8 = "all, native";
    for (all) |v| known = b.fmt("{s}, {s}", .{ known, v.name });
    std.process.fatal("no CPU variant \"{s}\" for this target; there are: {s}", .{ name, known });
}

/// The baseline, and the best variant for the processor of the machine that builds.
fn native(b: *Build, target: Target, all: []const Variant) []const Variant {
    const host = b.graph.host.result.cpu;
    if (host.arch != target.cpu.arch) std.process.fatal("-Dvariants=native needs a target of this machine's architecture", .{});
    var best: usize = 0;
    for (all, 0..) |v, i| {
        if (host.features.isSuperSetOf(v.needs)) best = i;
    }
    if (best == 0) return all[0..1];
    return b.allocator.dupe(Variant, &.{ all[0], all[best] }) catch @panic("OOM");
}

fn allOf(b: *Build, target: Target, amx: bool) []const Variant {
    const table = std.json.parseFromSliceLeaky(Table, b.allocator, @embedFile("variants.json"), .{}) catch |err|
        std.process.fatal("build/variants.json: {t}", .{err});
    const arch = @tagName(target.cpu.arch);
    const key = if (target.cpu.arch == .x86_64) arch else b.fmt("{s}-{t}", .{ arch, target.os.tag });
    const features = table.features.map.get(arch) orelse std.process.fatal("build/variants.json: no features of {s}", .{arch});
    const entries = table.variants.map.get(key) orelse std.process.fatal("build/variants.json: no variants of {s}", .{key});
    var all: std.ArrayList(Variant) = .empty;
    for (entries) |entry| {
        if (!amx and std.mem.find(u8, entry.features, "AMX") != null) continue;
        all.append(b.allocator, toVariant(b, target.cpu.arch, entry, features)) catch @panic("OOM");
    }
    return all.items;
}

fn toVariant(b: *Build, arch: Target.Cpu.Arch, entry: Entry, features: FeatureTable) Variant {
    var v: Variant = .{
        .name = entry.name,
        .defines = &.{},
        .has_avx512 = std.mem.find(u8, entry.features, "AVX512") != null,
    };
    var defines: std.ArrayList([]const u8) = .empty;
    var names = std.mem.tokenizeScalar(u8, entry.features, ' ');
    while (names.next()) |name| {
        const feature = features.map.get(name) orelse std.process.fatal("build/variants.json: no feature {s}", .{name});
        defines.append(b.allocator, feature.define) catch @panic("OOM");
        for (feature.cpu) |cpu| v.needs.addFeature(featureIndex(arch, cpu));
        if (feature.level) |level| v.add.addFeature(featureIndex(arch, level));
    }
    v.defines = defines.items;
    v.add.addFeatureSet(v.needs);
    var without = std.mem.tokenizeScalar(u8, entry.without, ' ');
    while (without.next()) |cpu| v.remove.addFeature(featureIndex(arch, cpu));
    return v;
}

fn featureIndex(arch: Target.Cpu.Arch, name: []const u8) Features.Index {
    for (arch.allFeaturesList()) |f| if (std.mem.eql(u8, f.name, name)) return f.index;
    std.process.fatal("build/variants.json: {s} has no CPU feature {s}", .{ @tagName(arch), name });
}
