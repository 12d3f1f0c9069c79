/** A tool call that the model made. Plain data. */
export interface ToolCall {
  /** Its id, unique in the conversation. */
  id: string;
  /** The name of the tool. */
  name: string;
  /** The arguments. */
  arguments: Record<string, unknown>;
}

/** One message of a conversation. Plain data. */
export interface ChatMessage {
  /** The author: `"tool"` is for the result of a tool. */
  role: "system" | "user" | "assistant" | "tool";
  /** The text. */
  content: string;
  /** The reasoning before it, in an assistant's message. */
  reasoning?: string | undefined;
  /** The tool calls, in an assistant's message. */
  toolCalls?: ToolCall[] | undefined;
  /** The id of the call that it answers, in a tool's message. */
  toolCallId?: string | undefined;
  /** The name of the tool, in a tool's message. */
  name?: string | undefined;
}
