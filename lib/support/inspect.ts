export * from "../../base/inspect.ts";
