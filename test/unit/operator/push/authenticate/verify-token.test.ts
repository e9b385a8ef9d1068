import assert from "node:assert/strict";
import { ReviewUnavailableError } from "#operator/push/authenticate/peer";
import { type TokenReview, TokenVerifier } from "#operator/push/authenticate/verify-token";
import { ManualTimers } from "#test/support/manual-timers";

const accounts = {
  proxy: "system:serviceaccount:tollgate:tollgate-proxy",
  operator: "system:serviceaccount:tollgate:tollgate-operator",
};
const audience = "tollgate-operator";
const good: TokenReview = { isAuthenticated: true, audiences: [audience], username: accounts.proxy, pod: "proxy-1" };

function tokenOf(claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${encode({ alg: "none" })}.${encode(claims)}.c2ln`;
}

describe("TokenVerifier", () => {
  let timers: ManualTimers;
  let reviews: string[];
  let answer: () => Promise<TokenReview>;
  let verifier: TokenVerifier;

  beforeEach(() => {
    timers = new ManualTimers();
    reviews = [];
    answer = async () => good;
    verifier = new TokenVerifier({
      reviewer: {
        review(token) {
          reviews.push(token);
          return answer();
        },
      },
      audience,
      accounts,
      timers,
      freshMs: 300_000,
    });
  });

  function bearer(changes: object = {}): string {
    const exp = Math.floor(timers.wallClock() / 1_000) + 3_600;
    return `Bearer ${tokenOf({ aud: [audience], sub: accounts.proxy, exp, ...changes })}`;
  }

  for (const row of [
    { name: "no header", header: undefined, want: "no_token" },
    { name: "another scheme", header: "Basic abc", want: "malformed_token" },
    { name: "no token", header: "Bearer ", want: "malformed_token" },
    { name: "a word", header: "Bearer guess", want: "malformed_token" },
    { name: "a payload that is no JSON", header: "Bearer a.b.c", want: "malformed_token" },
    { name: "a token of 20 KiB", header: `Bearer a.${"b".repeat(20_000)}.c`, want: "malformed_token" },
    {
      name: "another audience",
      header: `Bearer ${tokenOf({ aud: ["vault"], sub: accounts.proxy })}`,
      want: "wrong_audience",
    },
    { name: "no audience", header: `Bearer ${tokenOf({ sub: accounts.proxy })}`, want: "wrong_audience" },
    {
      name: "an account of another namespace",
      header: `Bearer ${tokenOf({ aud: [audience], sub: "system:serviceaccount:other:tollgate-proxy" })}`,
      want: "wrong_account",
    },
  ]) {
    it(`refuses ${row.name} as ${row.want} without asking the API server`, async () => {
      assert.deepEqual(await verifier.verify(row.header), { refused: row.want });
      assert.deepEqual(reviews, []);
    });
  }

  for (const row of [
    { name: "says no", review: { ...good, isAuthenticated: false }, want: "not_authenticated" },
    { name: "names no audience", review: { ...good, audiences: [] }, want: "wrong_audience" },
    {
      name: "names another account than the token",
      review: { ...good, username: "system:serviceaccount:other:proxy" },
      want: "wrong_account",
    },
    {
      name: "names no pod",
      review: { isAuthenticated: true, audiences: [audience], username: accounts.proxy },
      want: "no_pod",
    },
  ]) {
    it(`refuses as ${row.want} when the API server ${row.name}`, async () => {
      answer = async () => row.review;
      assert.deepEqual(await verifier.verify(bearer()), { refused: row.want });
    });
  }

  it("names the pod and its role", async () => {
    assert.deepEqual(await verifier.verify(bearer()), { peer: { role: "proxy", pod: "proxy-1" } });
    answer = async () => ({ ...good, username: accounts.operator, pod: "operator-1" });
    const operator = bearer({ sub: accounts.operator });
    assert.deepEqual(await verifier.verify(operator), { peer: { role: "operator", pod: "operator-1" } });
  });

  it("asks once for many requests with one token, and again after some minutes", async () => {
    const header = bearer();
    await Promise.all([verifier.verify(header), verifier.verify(header), verifier.verify(header)]);
    await verifier.verify(header);
    assert.equal(reviews.length, 1);
    timers.advance(301_000);
    await verifier.verify(header);
    assert.equal(reviews.length, 2);
  });

  it("believes a token it verified before while the API server is away, until the token expires", async () => {
    const header = bearer();
    await verifier.verify(header);
    answer = () => Promise.reject(new Error("connection refused"));
    timers.advance(3_500_000);
    assert.deepEqual(await verifier.verify(header), { peer: { role: "proxy", pod: "proxy-1" } });
    timers.advance(101_000);
    await assert.rejects(verifier.verify(header), ReviewUnavailableError);
  });

  it("believes no token that it has never verified while the API server is away", async () => {
    answer = () => Promise.reject(new Error("connection refused"));
    await assert.rejects(verifier.verify(bearer()), ReviewUnavailableError);
  });

  it("forgets a token that the API server no longer vouches for, as of a deleted pod", async () => {
    const header = bearer();
    await verifier.verify(header);
    timers.advance(301_000);
    answer = async () => ({ ...good, isAuthenticated: false });
    assert.deepEqual(await verifier.verify(header), { refused: "not_authenticated" });
    answer = () => Promise.reject(new Error("connection refused"));
    await assert.rejects(verifier.verify(header), ReviewUnavailableError);
  });

  it("asks for few tokens at a time, whoever knocks", async () => {
    let atOnce = 0;
    let most = 0;
    answer = async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce -= 1;
      return good;
    };
    const headers = Array.from({ length: 500 }, (_, index) => bearer({ jti: index }));
    await Promise.all(headers.map((header) => verifier.verify(header)));
    assert.equal(reviews.length, 500);
    assert.ok(most <= 32, `${most} at once`);
  });
});
