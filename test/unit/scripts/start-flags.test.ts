/** What `npm start` adds to the settings that its user gave. */
import assert from "node:assert/strict";
import { type StartSources, startFlags } from "#scripts/start-flags";

const defaults = { data: "/usual", "drain.endpointLag": "0s" };
const start = (sources: Partial<StartSources> = {}) =>
  startFlags(defaults, {
    given: [],
    variables: {},
    readFile: () => assert.fail("no file was named"),
    isFree: async () => true,
    ...sources,
  });

describe("npm start", () => {
  it("takes the usual ports and values where nothing is given", async () => {
    const { flags, dataFolder, moved } = await start();
    assert.deepEqual(flags, [
      "--data=/usual",
      "--drain-endpoint-lag=0s",
      "--listen=127.0.0.1:8080",
      "--admin=127.0.0.1:9090",
      "--operator-admin=127.0.0.1:9091",
    ]);
    assert.deepEqual([dataFolder, moved], ["/usual", []]);
  });

  it("says which port it moves from, why, and how to choose another", async () => {
    const { flags, moved } = await start({ isFree: async (port) => port !== 8080 });
    assert.ok(flags.includes("--listen=127.0.0.1:0"));
    assert.deepEqual(moved, [
      "Port 8080 is taken by another program, so --listen moves to a free one; choose it with --listen HOST:PORT or TOLLGATE_LISTEN.",
    ]);
  });

  const file = "data: /theirs\ndrain: {endpointLag: 1s}\nlisten: 0.0.0.0:80\n";
  for (const { name, sources } of [
    { name: "flags", sources: { given: ["--data", "/theirs", "--drain-endpoint-lag=1s", "--listen=0.0.0.0:80"] } },
    {
      name: "variables",
      sources: {
        variables: { TOLLGATE_DATA: "/theirs", TOLLGATE_DRAIN_ENDPOINT_LAG: "1s", TOLLGATE_LISTEN: "0.0.0.0:80" },
      },
    },
    { name: "a settings file", sources: { given: ["--config=theirs.yaml"], readFile: () => file } },
    {
      name: "a settings file that a variable names",
      sources: { variables: { TOLLGATE_CONFIG: "theirs.yaml" }, readFile: () => file },
    },
  ]) {
    it(`leaves settings of ${name} alone, taken ports as well`, async () => {
      const { flags, dataFolder, moved } = await start({ isFree: async (port) => port !== 8080, ...sources });
      assert.deepEqual(
        flags.filter((flag) => /^--(data|drain-endpoint-lag|listen)\b/.test(flag)),
        (sources.given ?? []).filter((flag) => flag.startsWith("--") && !flag.startsWith("--config")),
      );
      assert.deepEqual([dataFolder, moved], ["/theirs", []]);
    });
  }
});
