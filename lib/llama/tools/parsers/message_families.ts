/**
 * Families whose answers are messages with headers.
 *
 * @module
 */

import type { Family } from "./family.ts";
import { type MarkupForm, readMarkupCalls } from "./markup.ts";
import { readNamedCall } from "./sections.ts";

// Its messages are read by `readMessages`.
// deno-lint-ignore require-yield
function* readNothing() {
  return false;
}

/** gpt-oss. */
export const harmony: Family = {
  name: "harmony",
  signs: [["<|channel|>", "<|message|>"]],
  openings: () => [],
  read: readNothing,
  messages: {
    starts: ["<|start|>", "<|channel|>"],
    firstStarts: [" to="],
    ends: ["<|end|>", "<|call|>", "<|return|>"],
    reasoningHeader: "<|channel|>analysis<|message|>",
    kindOf(header) {
      const recipient = / to=([^\s<]+)/.exec(header)?.[1];
      if (recipient !== undefined && recipient !== "assistant" && recipient !== "all") {
        return { call: recipient.replace(/^functions\./, "") };
      }
      return /<\|channel\|>\s*(\w+)/.exec(header)?.[1] === "analysis" ? "reasoning" : "text";
    },
    *readCall(context, name) {
      yield* readNamedCall(context, name, ["<|call|>", "<|end|>"]);
      return true;
    },
  },
  thought: {
    open: "<|channel|>analysis<|message|>",
    close: "<|end|>",
    closing: "<|end|><|start|>assistant<|channel|>final<|message|>",
  },
  answerStart: "<|channel|>final<|message|>",
  marks: ["<|start|>", "<|end|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|call|>", "<|return|>"],
  isFramed: true,
};

const atem: MarkupForm = {
  call: '<atem:invoke name="',
  nameEnd: ['">'],
  callEnd: ["</atem:invoke>"],
  argument: '<atem:parameter name="',
  argumentNameEnd: ['">'],
  argumentEnd: ["</atem:parameter>"],
  close: ["</atem:function_calls>"],
  lines: false,
};

/** Muse: messages to the model itself, to the user and to tools. */
export const muse: Family = {
  name: "muse",
  signs: [["<atem:function_calls>", "<|message|>"]],
  openings: () => [],
  read: readNothing,
  messages: {
    starts: ["<|start|>"],
    firstStarts: [" to="],
    ends: ["<|eom|>", "<|eot|>"],
    reasoningHeader: " to=self<|message|>",
    kindOf(header) {
      const recipient = / to=([^\s<]+)/.exec(header)?.[1] ?? "user";
      return recipient === "self" ? "reasoning" : recipient === "user" ? "text" : { call: recipient };
    },
    *readCall(context) {
      if ((yield* context.reader.takeAfterSpace(["<atem:function_calls>"])) === undefined) return false;
      return yield* readMarkupCalls(context, atem, false);
    },
  },
  // What has been generated is compared without leading white space.
  thought: {
    open: "to=self<|message|>",
    close: "<|eom|>",
    closing: "<|eom|><|start|>assistant to=user<|message|>",
  },
  answerStart: " to=user<|message|>",
  marks: ["<|start|>", "<|message|>", "<|eom|>", "<|eot|>"],
  isFramed: true,
};
