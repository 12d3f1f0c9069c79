export * from "../../base/check.ts";
