/**
 * Defines what is particular to a provider, whichever model it serves: one file each, listed in `providers.ts`. No
 * other code of the proxy asks which provider a channel has.
 */
import type { Channel, WireFormat } from "#proxy/snapshot/types.gen";

export type ProviderName = Channel["provider"];
export type QuirksName = NonNullable<Channel["quirks"]>;

/** A request as it goes on the wire, but for what signing adds. */
export interface SignableRequest {
  readonly method: "POST" | "GET" | "PUT" | "PATCH" | "DELETE";
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface Provider {
  /**
   * Whose models it serves, as their documentation describes them. Undefined for servers that only speak a vendor's
   * format: these vary, and are trusted with what all of them take.
   */
  readonly vendor?: "OpenAI" | "Anthropic" | "Google";
  /** Members of a body that it refuses as unknown, by the format that it is spoken to in. */
  readonly unsupported: Readonly<Partial<Record<WireFormat, readonly string[]>>>;
  /** Members that have another name there, by the format that it is spoken to in. */
  readonly renamed: Readonly<Partial<Record<WireFormat, Readonly<Record<string, string>>>>>;
  /** Of chat completions: takes `stream_options`. One that does not tells its usage in every stream. */
  readonly takesStreamOptions: boolean;
  /** The member that the gateway itself writes a cap of chat completions to. */
  readonly chatCapMember: "max_completion_tokens" | "max_tokens";
  /** Fetches images and PDFs that a message names by their address. */
  readonly fetchesFiles: boolean;
  /** Of generateContent: takes ids of calls. */
  readonly takesCallIds: boolean;
  /** Of generateContent: takes its own tools beside functions. */
  readonly mixesBuiltInTools: boolean;
  /** Of generateContent: takes a service tier. */
  readonly takesServiceTier: boolean;
  /**
   * Signs a request after its body is built. Without it the credential goes into one header or the query
   * (`spec.auth`), rendered once for all requests.
   *
   * @param secret of the credential, as its Secret holds it
   * @param nowMs milliseconds since the epoch
   * @returns headers to add, names and values in turn
   */
  sign?(request: SignableRequest, secret: string, nowMs: number): readonly string[];
}
