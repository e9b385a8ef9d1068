import assert from "node:assert/strict";
import { ApiError } from "#operator/kubernetes/api/api-error";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import { releaseOwner } from "#operator/kubernetes/installation/release-owner";

describe("releaseOwner()", () => {
  let answer: string | number = "";
  const client = {
    async get(): Promise<ApiObject> {
      if (typeof answer === "number") throw new ApiError("refused", { code: "refused", status: answer });
      return { metadata: { name: "tollgate-owner", uid: answer } };
    },
  };
  let nowMs = 0;
  const owner = () => releaseOwner(client, "tollgate", "tollgate-owner", () => nowMs);
  const reference = (uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name: "tollgate-owner", uid });

  it("is the ConfigMap as it is now", async () => {
    const { read } = owner();
    for (const uid of ["u-1", "u-2"]) {
      answer = uid;
      assert.deepEqual(await read(), reference(uid));
    }
  });

  it("is still the one that is gone, so that what is made late goes with it", async () => {
    const { read } = owner();
    answer = 404;
    assert.equal(await read(), undefined);
    answer = "u-1";
    await read();
    answer = 404;
    assert.deepEqual(await read(), reference("u-1"));
  });

  it("is none where an operator outlives it for long: what bears a dead owner is removed again and again", async () => {
    const { read } = owner();
    answer = "u-1";
    await read();
    answer = 404;
    await read();
    nowMs += 119_000;
    assert.deepEqual(await read(), reference("u-1"));
    nowMs += 1_000;
    assert.equal(await read(), undefined);
    answer = "u-2";
    assert.deepEqual(await read(), reference("u-2"));
    answer = 404;
    assert.deepEqual(await read(), reference("u-2"), "it went anew");
  });

  it("is known by what bears it, where it is gone before it was read", async () => {
    const { owns, read } = owner();
    const bearing = (...ownerReferences: readonly object[]) => ({ metadata: { name: "x", ownerReferences } });
    const settings = { ...reference("u-0"), name: "tollgate-operator" };
    const account = { ...reference("u-0"), kind: "ServiceAccount" };
    answer = 404;
    assert.deepEqual([{ metadata: { name: "x" } }, bearing(settings), bearing(account)].map(owns), [
      false,
      false,
      false,
    ]);
    assert.equal(await read(), undefined);
    assert.equal(owns(bearing(account, reference("u-1"))), true);
    assert.deepEqual(await read(), reference("u-1"));
    answer = "u-2";
    await read();
    assert.equal(owns(bearing(reference("u-1"))), true);
    answer = 404;
    assert.deepEqual(await read(), reference("u-2"), "what was read is newer");
  });

  it("fails where nobody can say", async () => {
    answer = 403;
    await assert.rejects(owner().read(), ApiError);
  });
});
