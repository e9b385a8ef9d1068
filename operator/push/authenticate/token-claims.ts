/**
 * Reads the claims of a ServiceAccount token without trusting them. They suffice to turn strangers away without a
 * review, and to know when a reviewed token expires.
 */

export interface TokenClaims {
  readonly audiences: readonly string[];
  /** `system:serviceaccount:<namespace>:<name>`. */
  readonly subject: string;
  /** Milliseconds since the epoch; undefined for a token without end. */
  readonly expiresAtMs?: number;
}

/** Kubernetes' own tokens have about 1.5 KiB. */
const tokenCharactersMax = 16 * 1024;

/** @returns undefined when the text is no token in the form of RFC 7519. */
export function readTokenClaims(token: string): TokenClaims | undefined {
  if (token.length > tokenCharactersMax) return undefined;
  const [header, payload, signature, ...rest] = token.split(".");
  if (!header || !payload || !signature || rest.length > 0) return undefined;
  let claims: unknown;
  try {
    claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  } catch {
    // Not JSON: no token.
    return undefined;
  }
  if (typeof claims !== "object" || claims === null) return undefined;
  const { aud, sub, exp } = claims as { aud?: unknown; sub?: unknown; exp?: unknown };
  if (typeof sub !== "string") return undefined;
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((audience) => typeof audience === "string");
  return { audiences, subject: sub, ...(typeof exp === "number" && { expiresAtMs: exp * 1_000 }) };
}
