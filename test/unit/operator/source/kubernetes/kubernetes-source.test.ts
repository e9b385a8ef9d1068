import assert from "node:assert/strict";
import type { ListOptions, WatchOptions } from "#operator/kubernetes/api/api-client";
import { ApiError } from "#operator/kubernetes/api/api-error";
import type { ApiList, ApiResource } from "#operator/kubernetes/api/api-object";
import { KubernetesSource } from "#operator/source/kubernetes/kubernetes-source";

const notOffered = new ApiError("no streaming lists", { code: "refused", status: 422 });

/** A source of an API server whose kinds count by themselves, as with an etcd for each. */
async function open(versions: Record<string, string>, namespaces: string[] = []) {
  const asked: string[] = [];
  const source = new KubernetesSource({
    client: {
      onHeard: () => () => undefined,
      probe: async () => undefined,
      list: async ({ plural }: ApiResource, { limit }: ListOptions = {}): Promise<ApiList> => {
        if (limit === 1) asked.push(plural);
        return { resourceVersion: versions[plural] ?? "1", continueToken: undefined, items: [] };
      },
      watch: async function* (_resource, { sendInitialEvents, signal }: WatchOptions) {
        if (sendInitialEvents) throw notOffered;
        const { promise, reject } = Promise.withResolvers<never>();
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
        await promise;
      },
    },
    namespaces,
    log: { info: () => undefined, warn: () => undefined },
  });
  assert.equal(await source.start(), true);
  return { source, asked };
}

describe("kubernetes source that is told of later versions than it has", () => {
  const held = { apikeys: "119", secrets: "90000", channels: "50" };
  for (const row of [
    { name: "lags where that kind has come as far", server: { apikeys: "120" }, want: [false, ["apikeys"]] },
    { name: "lags whatever number another kind has", server: { apikeys: "90001" }, want: [false, ["apikeys"]] },
    { name: "knows a restore where that kind has not come as far", server: {}, want: [true, ["apikeys"]] },
  ] as const) {
    it(row.name, async () => {
      const versions: Record<string, string> = { ...held };
      const { source, asked } = await open(versions);
      Object.assign(versions, row.server);
      const wentBack = await source.hasGoneBack({ ApiKey: "120", Secret: "90000", Channel: "50", Elsewhere: "999999" });
      assert.deepEqual([wentBack, asked], row.want);
      await source.close();
    });
  }

  it("asks once for each kind, however many namespaces it watches", async () => {
    const versions: Record<string, string> = { ...held };
    const { source, asked } = await open(versions, ["team-a", "team-b", "team-c"]);
    Object.assign(versions, { apikeys: "121", channels: "51" });
    const claimed = { "ApiKey/team-a": "110", "ApiKey/team-b": "120", "ApiKey/team-c": "121", "Channel/team-a": "51" };
    assert.equal(await source.hasGoneBack({ ...claimed, "Channel/team-b": "49" }), false);
    assert.deepEqual(asked.sort(), ["apikeys", "channels"]);
    await source.close();
  });
});
