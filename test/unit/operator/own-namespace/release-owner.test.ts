import assert from "node:assert/strict";
import { ApiError } from "../../../../operator/kubernetes/api-error.ts";
import type { ApiObject } from "../../../../operator/kubernetes/api-object.ts";
import { releaseOwner } from "../../../../operator/own-namespace/release-owner.ts";

describe("releaseOwner()", () => {
  let answer: string | number = "";
  const client = {
    async get(): Promise<ApiObject> {
      if (typeof answer === "number") throw new ApiError("refused", { code: "refused", status: answer });
      return { metadata: { name: "tollgate-operator", uid: answer } };
    },
  };
  const owner = () => releaseOwner(client, "tollgate", "tollgate-operator");
  const reference = (uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name: "tollgate-operator", uid });

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

  it("fails where nobody can say", async () => {
    answer = 403;
    await assert.rejects(owner().read(), ApiError);
  });
});
