/** A call of a tool that the model made. Plain data. */
export interface ToolCall {
  /** Tells it from the other calls of the conversation. */
  id: string;
  /** The name of the tool. */
  name: string;
  /** The arguments. */
  arguments: Record<string, unknown>;
}

/** One message of a conversation. Plain data. */
export interface ChatMessage {
  /** Who says it: `"tool"` is what a tool gave. */
  role: "system" | "user" | "assistant" | "tool";
  /** What is said. */
  content: string;
  /** What the model thought before it; of an assistant's message. */
  reasoning?: string | undefined;
  /** The tools that the model called; of an assistant's message. */
  toolCalls?: ToolCall[] | undefined;
  /** Which call it answers; of a tool's message. */
  toolCallId?: string | undefined;
  /** The name of the tool; of a tool's message. */
  name?: string | undefined;
}
