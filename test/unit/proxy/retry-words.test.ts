/**
 * pitfall 170: some programs decide by the text of a failure alone whether they try again. What another try may cure
 * holds a word that they know, and what none can cure holds none.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { toClientError } from "#proxy/formats/client-error";
import type { UpstreamError } from "#proxy/formats/format";
import { tooManyBytes } from "#proxy/http/in-flight-bytes";
import {
  errorOfFailure,
  errorOfInvalidReply,
  errorOfProblem,
  errorOfStop,
  noAvailableChannel,
} from "#proxy/upstream/describe-outcome";

/** As a coding agent has them. */
const retryWords =
  /overloaded|rate.?limit|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error|connection.?lost|upstream.?connect|terminated/i;

const failures = [
  "connect",
  "connect-timeout",
  "first-byte-timeout",
  "idle-timeout",
  "total-timeout",
  "broken",
  "egress",
] as const;

const ofProviders: Readonly<Record<UpstreamError["kind"], boolean>> = {
  timeout: true,
  rate_limit: true,
  upstream_5xx: true,
  overloaded: true,
  bad_request: false,
  context_length: false,
  policy: false,
  capability: false,
  channel_auth: false,
  channel_quota: false,
  channel_config: false,
  conflict: false,
  too_large: false,
};

function isErrorKind(kind: string): kind is UpstreamError["kind"] {
  return Object.hasOwn(ofProviders, kind);
}

describe("texts of failures", () => {
  const curable = [
    ...failures.map((kind) => ({ name: kind, error: errorOfFailure({ kind, isSent: false, cause: undefined }) })),
    { name: "no channel", error: noAvailableChannel() },
    { name: "an invalid reply", error: errorOfInvalidReply("event 1: expected JSON") },
    {
      name: "a cut reply",
      error: errorOfProblem({ kind: "truncated", reason: "behind event 2" }, () =>
        assert.fail("no error of an upstream"),
      ),
    },
    { name: "a shutdown", error: errorOfStop("shutting-down") },
    { name: "an overload", error: errorOfStop("overloaded") },
    { name: "no room", error: tooManyBytes() },
  ];
  for (const { name, error } of curable) {
    it(`pitfall 170: ${name} holds a word that clients try again by`, () => assert.match(error.message, retryWords));
  }

  it("pitfall 170: a key that was revoked does not", () => {
    assert.doesNotMatch(errorOfStop("revoked").message, retryWords);
  });

  for (const [kind, isCurable] of Object.entries(ofProviders)) {
    it(`pitfall 170: a provider's ${kind} ${isCurable ? "does" : "does not"}`, () => {
      if (!isErrorKind(kind)) assert.fail(kind);
      const error: UpstreamError = { kind, status: 400, message: "", param: undefined, retryAfterMs: undefined };
      const context = { publicModel: "smart", upstreamModel: "m", requestId: "req_a" };
      const { message } = toClientError(error, context);
      if (isCurable) assert.match(message, retryWords);
      else assert.doesNotMatch(message, retryWords);
    });
  }
});
