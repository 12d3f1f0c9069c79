/**
 * The errors of the library. Every one extends {@linkcode GgmlError}: `code` stays the same over releases, `value` is what was wrong, `expected`
 * what would have been right, `cause` what led to it.
 *
 * @module
 */

import { detailsOf, registerErrors } from "../base/error.ts";
import { GgmlError, type GgmlErrorDetails } from "../base/errors.ts";

export * from "../base/errors.ts";

/** There is no file at the path, or it is a folder. */
export class ModelNotFoundError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "MODEL_NOT_FOUND";
}

/** The system, or the runtime's own permissions, refused to let the model file be read: `cause` has its message. */
export class ModelAccessError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "MODEL_ACCESS";
}

/** A model couldn't be downloaded: the server or the connection failed, or the address leads to something else. */
export class ModelDownloadError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "MODEL_DOWNLOAD";
}

/** A downloaded model isn't the file that was announced: its SHA-256 differs. */
export class ModelHashError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "MODEL_HASH";
}

/** A model can't be put into the cache: the disk is full, or the folder can't be written. */
export class ModelCacheError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "MODEL_CACHE";
}

/** A file is one part of a model in several files, and not the first, or another part is missing. */
export class ModelPartError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "MODEL_PART";
}

/** A file isn't GGUF: it starts with something else. */
export class NotGgufError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "NOT_GGUF";
}

/** A GGUF file has its numbers in the other byte order. */
export class GgufByteOrderError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "GGUF_BYTE_ORDER";
}

/** A GGUF file is of a version that can't be read. */
export class GgufVersionError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "GGUF_VERSION";
}

/** A GGUF file ends before what its header announces. */
export class GgufTruncatedError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "GGUF_TRUNCATED";
}

/** A GGUF header contradicts itself. */
export class GgufFormatError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "GGUF_FORMAT";
}

/** llama.cpp couldn't load a model whose header is valid; the message has what llama.cpp logged. */
export class ModelLoadError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "MODEL_LOAD";
}

/** A model is sound but can't do what was asked, such as generate text with an embedding model. */
export class UnsupportedModelError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "UNSUPPORTED_MODEL";
}

/** llama.cpp couldn't make a context, most often because there isn't enough memory for it. */
export class ContextError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "CONTEXT";
}

/** A prompt has more tokens than the context can hold. */
export class PromptTooLongError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "PROMPT_TOO_LONG";
}

/** A prompt has no tokens and the model has no start token, or a text has too few tokens to be scored. */
export class EmptyPromptError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "EMPTY_PROMPT";
}

/** llama.cpp failed while it computed; the context was cleared and can be used again. */
export class DecodeError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "DECODE";
}

/** A chat template is missing, doesn't parse, refused the messages, or takes more time or memory than a template may. */
export class ChatTemplateError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "CHAT_TEMPLATE";
}

/** Details of a {@linkcode GenerationCancelledError}. */
export interface GenerationCancelledErrorDetails extends GgmlErrorDetails {
  /** The text so far. */
  partial?: string;
}

/** The loop over a generation was left before its end, which cancelled it. */
export class GenerationCancelledError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "GENERATION_CANCELLED";
  /** The text so far. */
  readonly partial: string;

  /** Makes an error from its message and details. */
  constructor(message: string, details: GenerationCancelledErrorDetails = {}) {
    super(message, details);
    this.partial = detailsOf(details).partial ?? "";
  }
}

/** A backend doesn't support an operator, a buffer type or a type of tensor. */
export class UnsupportedOperationError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "UNSUPPORTED_OPERATION";
}

/** A backend failed while it computed or copied; `value` is the status that it gave. */
export class BackendError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "BACKEND";
}

/** A file isn't a backend that can be loaded: another format, processor or version, or it lacks a function; the message says which. */
export class BackendLoadError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "BACKEND_LOAD";
}

/** A backend couldn't get the memory that was asked for. */
export class AllocationError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "ALLOCATION";
}

/** A tensor has no memory yet, or lost it when its buffer was disposed. */
export class NotAllocatedError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "NOT_ALLOCATED";
}

/** A grammar doesn't parse, can't be used, or leaves the model no token to continue with. */
export class GrammarError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "GRAMMAR";
}

/** A GGUF file couldn't be written: `cause` has the system's message. */
export class GgufWriteError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "GGUF_WRITE";
}

/** A server didn't answer with the part of a file that was requested; `cause` has its answer. */
export class GgufFetchError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "GGUF_FETCH";
}

/** The details of a {@linkcode JsonSchemaError}. */
export interface JsonSchemaErrorDetails extends GgmlErrorDetails {
  /** The place in the schema, as a JSON Pointer. */
  path?: string;
}

/** A JSON Schema is invalid, such as one with a `type` that doesn't exist or a `$ref` to nothing. Also the base of the other errors about schemas. */
export class JsonSchemaError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "JSON_SCHEMA";
  /** The place in the schema, as a JSON Pointer; the empty string is the whole schema. */
  readonly path: string;

  /** Makes an error from its message and what is known about it. */
  constructor(message: string, details: JsonSchemaErrorDetails = {}) {
    super(message, details);
    this.path = detailsOf(details).path ?? "";
  }
}

/** A JSON Schema has a keyword that no grammar can express, at least not where it stands. */
export class UnsupportedKeywordError extends JsonSchemaError {
  /** The stable code of this class. */
  static override readonly code: string = "JSON_SCHEMA_KEYWORD";
}

/** No value is valid against a JSON Schema. */
export class SchemaContradictionError extends JsonSchemaError {
  /** The stable code of this class. */
  static override readonly code: string = "JSON_SCHEMA_CONTRADICTION";
}

/** The grammar of a JSON Schema would be too large. */
export class SchemaTooComplexError extends JsonSchemaError {
  /** The stable code of this class. */
  static override readonly code: string = "JSON_SCHEMA_TOO_COMPLEX";
}

/** A generated text doesn't match its schema: `value` is what was made, `cause` or the message says why. */
export class StructuredResultError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "STRUCTURED_RESULT";
}

/** Details of a {@linkcode SchemaValidationError}. */
export interface SchemaValidationErrorDetails extends GgmlErrorDetails {
  /** The text of the last attempt. */
  text?: string;
  /** The place in the value, as a JSON Pointer. */
  path?: string;
  /** The rule that was broken. */
  rule?: string;
}

/** No attempt at a structured result gave a valid value. */
export class SchemaValidationError extends StructuredResultError {
  /** The stable code of this class. */
  static override readonly code: string = "SCHEMA_VALIDATION";
  /** The text of the last attempt. */
  readonly text: string;
  /** The place of the problem in the value, as a JSON Pointer; the empty string is the whole value. */
  readonly path: string;
  /** The rule that was broken: the path of the keyword in the schema, the words of a validation library, or `"JSON"` for a text that isn't JSON. */
  readonly rule: string;

  /** Makes an error from its message and what is known about it. */
  constructor(message: string, details: SchemaValidationErrorDetails = {}) {
    super(message, details);
    const { text, path, rule } = detailsOf(details);
    this.text = text ?? "";
    this.path = path ?? "";
    this.rule = rule ?? "";
  }
}

/** A tool's handler or validator failed, or returned what JSON can't express; `value` is the tool's name, `cause` the exception. */
export class ToolHandlerError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "TOOL_HANDLER";
}

/** Every token is excluded where one is needed: by biases, banned strings, a custom sampler, or all of them together. */
export class NoTokenLeftError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "NO_TOKEN_LEFT";
}

/** A custom sampler failed on the caller's thread; the generation rejects with what it threw. */
export class SamplerError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "SAMPLER";
}

/** A file isn't a LoRA adapter, or is one for another model. */
export class LoraError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "LORA";
}

/** A control vector is invalid, or is one for another model. */
export class ControlVectorError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "CONTROL_VECTOR";
}

/** An RPC server can't be reached, or gave no answer in time. */
export class RpcConnectError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "RPC_CONNECT";
}

/** A server's answer isn't that of an RPC server of this release. */
export class RpcProtocolError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "RPC_PROTOCOL";
}

/** This program uses that RPC server already; a server serves one client at a time. */
export class RpcInUseError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "RPC_IN_USE";
}

/** An RPC server that this program runs failed to start, or has ended. */
export class RpcServerError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "RPC_SERVER";
}

registerErrors(
  RpcConnectError,
  RpcProtocolError,
  RpcInUseError,
  RpcServerError,
  GgufWriteError,
  GgufFetchError,
  ModelNotFoundError,
  ModelAccessError,
  ModelDownloadError,
  ModelHashError,
  ModelCacheError,
  ModelPartError,
  NotGgufError,
  GgufByteOrderError,
  GgufVersionError,
  GgufTruncatedError,
  GgufFormatError,
  ModelLoadError,
  UnsupportedModelError,
  ContextError,
  PromptTooLongError,
  EmptyPromptError,
  DecodeError,
  ChatTemplateError,
  GenerationCancelledError,
  UnsupportedOperationError,
  BackendError,
  BackendLoadError,
  AllocationError,
  NotAllocatedError,
  GrammarError,
  JsonSchemaError,
  UnsupportedKeywordError,
  SchemaContradictionError,
  SchemaTooComplexError,
  SchemaValidationError,
  StructuredResultError,
  ToolHandlerError,
  NoTokenLeftError,
  SamplerError,
  ControlVectorError,
  LoraError,
);
