/** One message of a conversation. */
export interface ChatMessage {
  /** Who says it. */
  role: "system" | "user" | "assistant";
  /** What is said. */
  content: string;
}
