import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { UpstreamError } from "#proxy/formats/format";
import {
  errorOfFailure,
  errorOfInvalidReply,
  errorOfProblem,
  errorOfStop,
  isConnectFailure,
  labelOfError,
  labelOfFailure,
} from "#proxy/upstream/describe-outcome";
import type { UpstreamFailure } from "#proxy/upstream/upstream-exchange";

/** Words of the inside that no client may read. */
const inside = "ECONNREFUSED 10.1.2.3:443";

function failure(kind: UpstreamFailure["kind"]): UpstreamFailure {
  return { kind, isSent: false, cause: new Error(inside) };
}

function upstreamError(kind: UpstreamError["kind"]): UpstreamError {
  return { kind, status: 500, message: inside, param: undefined, retryAfterMs: undefined };
}

describe("a failure of an upstream", () => {
  for (const row of [
    { kind: "connect", code: "upstream_error", label: "connect_failure", isConnect: true },
    { kind: "connect-timeout", code: "upstream_timeout", label: "connect_failure", isConnect: true },
    { kind: "egress", code: "no_available_channel", label: "connect_failure", isConnect: true },
    { kind: "first-byte-timeout", code: "upstream_timeout", label: "timeout", isConnect: false },
    { kind: "idle-timeout", code: "upstream_timeout", label: "timeout", isConnect: false },
    { kind: "total-timeout", code: "upstream_timeout", label: "timeout", isConnect: false },
    { kind: "broken", code: "upstream_error", label: "cut", isConnect: false },
  ] as const) {
    it(`by ${row.kind} is ${row.code} to the client and ${row.label} to the metrics`, () => {
      const error = errorOfFailure(failure(row.kind));
      assert.equal(error.code, row.code);
      assert.ok(!error.message.includes(inside));
      assert.equal(labelOfFailure(failure(row.kind)), row.label);
      assert.equal(isConnectFailure(failure(row.kind)), row.isConnect);
    });
  }

  it("keeps its cause for the log", () => {
    const { cause } = errorOfFailure(failure("connect"));
    assert.ok(cause instanceof Error && cause.message === inside);
    assert.equal(errorOfFailure(failure("idle-timeout")).cause, "idle-timeout");
  });
});

describe("labelOfError()", () => {
  const labels: Readonly<Record<UpstreamError["kind"], string>> = {
    bad_request: "client_error",
    context_length: "client_error",
    policy: "client_error",
    capability: "client_error",
    channel_auth: "credential_rejected",
    channel_quota: "payment_required",
    channel_config: "client_error",
    timeout: "timeout",
    conflict: "client_error",
    too_large: "client_error",
    rate_limit: "rate_limited",
    upstream_5xx: "server_error",
    overloaded: "server_error",
  };
  const isKind = (kind: string): kind is UpstreamError["kind"] => kind in labels;
  for (const kind of Object.keys(labels).filter(isKind)) {
    it(`counts ${kind} as ${labels[kind]}`, () => assert.equal(labelOfError(upstreamError(kind)), labels[kind]));
  }
});

describe("a stream that could not end cleanly", () => {
  const never = (): never => assert.fail("not an error of the upstream");

  it("is told in the words of the upstream's error where it sent one", () => {
    const told = new GatewayError("rate_limited", "told");
    const error = upstreamError("rate_limit");
    const seen: UpstreamError[] = [];
    const result = errorOfProblem({ kind: "upstream-error", error }, (each) => {
      seen.push(each);
      return told;
    });
    assert.equal(result, told);
    assert.deepEqual(seen, [error]);
  });

  for (const row of [
    {
      name: "is a timeout when the upstream fell silent",
      problem: { kind: "failure", failure: failure("idle-timeout") },
      code: "upstream_timeout",
    },
    {
      name: "is an upstream's fault when it broke off",
      problem: { kind: "failure", failure: failure("broken") },
      code: "upstream_error",
    },
    {
      name: "is an upstream's fault when its bytes are no such stream",
      problem: { kind: "violation", reason: inside },
      code: "upstream_error",
    },
    {
      name: "is an upstream's fault when the end is missing",
      problem: { kind: "truncated", reason: "expected the end" },
      code: "upstream_error",
    },
  ] as const) {
    it(row.name, () => {
      const error = errorOfProblem(row.problem, never);
      assert.equal(error.code, row.code);
      assert.ok(!error.message.includes(inside));
    });
  }
});

describe("errorOfInvalidReply()", () => {
  it("keeps the reason inside", () => {
    const error = errorOfInvalidReply(inside);
    assert.equal(error.code, "upstream_error");
    assert.equal(error.cause, inside);
    assert.ok(!error.message.includes(inside));
  });
});

describe("errorOfStop()", () => {
  it("tells a revoked key from a gateway that ends", () => {
    assert.equal(errorOfStop("revoked").code, "key_suspended");
    assert.equal(errorOfStop("shutting-down").code, "shutting_down");
  });
});
