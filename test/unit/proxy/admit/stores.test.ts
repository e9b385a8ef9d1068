import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { toProxySettings } from "#cli/settings/proxy-settings";
import { readSettings, type Settings, UsageError } from "#cli/settings/read-settings";
import { stores } from "#proxy/admit/stores";

/** Settings as a proxy reads them, with a store that the list of settings would have refused. */
function withStore(name: string): Settings {
  const { settings } = readSettings("proxy", {
    flags: ["--operator=unix:/x", "--quota-redis-url=redis://127.0.0.1:6379"],
    variables: {},
    readFile: () => "",
  });
  return new Proxy(settings, {
    get: (of, member) => {
      if (member === "text") return (setting: string) => (setting === "quota.store" ? name : of.text(setting));
      const value: unknown = Reflect.get(of, member, of);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
}

describe("the stores of counters", () => {
  it("are those that the settings' schema knows", () => {
    const schema = JSON.parse(readFileSync("cli/settings.schema.json", "utf8"));
    assert.deepEqual(Object.keys(stores), schema.properties.quota.properties.store.enum);
  });

  for (const name of Object.keys(stores))
    it(`${name} is what the proxy is started with where it is asked for`, () =>
      assert.equal(toProxySettings(withStore(name)).quota.store, name));

  for (const name of ["Memcached", "memory", "", "constructor"])
    it(`a proxy does not start with the unknown store "${name}"`, () =>
      assert.throws(
        () => toProxySettings(withStore(name)),
        (error: unknown) =>
          error instanceof UsageError && /quota-store.* Embedded, Memory, Redis/.test(error.problems.join("\n")),
      ));

  for (const row of [
    { name: "without an address", flags: [], want: /--quota-redis-url/ },
    { name: "with a password in it", flags: ["--quota-redis-url=redis://:secret@10.1.2.3"], want: /belongs in a file/ },
    { name: "of another kind", flags: ["--quota-redis-url=http://10.1.2.3"], want: /such as redis:/ },
  ])
    it(`Redis is refused ${row.name}, and no secret is repeated`, () =>
      assert.throws(
        () => {
          const flags = ["--operator=unix:/x", "--quota-store=Redis", ...row.flags];
          toProxySettings(readSettings("proxy", { flags, variables: {}, readFile: () => "" }).settings);
        },
        (error: unknown) => {
          assert.ok(error instanceof UsageError);
          const said = error.problems.join("\n");
          return row.want.test(said) && !said.includes("secret");
        },
      ));
});
