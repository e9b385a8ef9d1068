import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { describeDefault, renderCommandHelp, renderProgramHelp } from "#cli/help";
import { toProxyFlags, toProxySettings } from "#cli/settings/proxy-settings";
import { readSettings, type SettingSources, UsageError } from "#cli/settings/read-settings";
import { type Command, commands, kebabCase, settingList, settingsOf } from "#cli/settings/setting-list";
import { defaultLimits } from "#proxy/limits";

interface Given {
  readonly flags?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly file?: string;
}

function sources({ flags = [], variables = {}, file }: Given): SettingSources {
  return {
    flags: file === undefined ? flags : [...flags, "--config", "settings.yaml"],
    variables,
    readFile: (path) => {
      assert.equal(path, "settings.yaml");
      return file ?? "";
    },
  };
}

function read(command: Command, given: Given) {
  return readSettings(command, sources(given));
}

function proxy(given: Given) {
  return read("proxy", { ...given, flags: ["--operator", "unix:/run/push.sock", ...(given.flags ?? [])] });
}

function problems(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof UsageError, String(error));
    return error.problems.join("\n");
  }
  return assert.fail("nothing was refused");
}

describe("settings", () => {
  for (const [name, kebab] of [
    ["egress.allowCIDRs", "egress-allow-cidrs"],
    ["trustedProxies.hops", "trusted-proxies-hops"],
    ["lastGood.keyFile", "last-good-key-file"],
    ["operatorAdmin", "operator-admin"],
  ] as const) {
    it(`spells ${name} as --${kebab}`, () => assert.equal(kebabCase(name), kebab));
  }

  it("takes a flag before a variable before the file before the default", () => {
    const file = "limits: {jsonDepth: 10}";
    const variables = { TOLLGATE_LIMITS_JSON_DEPTH: "11" };
    const depth = (given: Given): number => proxy(given).settings.number("limits.jsonDepth");
    assert.equal(depth({}), 64);
    assert.equal(depth({ file }), 10);
    assert.equal(depth({ file, variables }), 11);
    assert.equal(depth({ file, variables, flags: ["--limits-json-depth", "12"] }), 12);
  });

  for (const row of [
    { name: "durations in milliseconds", flags: ["--timeouts-total=1m30s"], setting: "timeouts.total", want: 90_000 },
    {
      name: "sizes in bytes",
      flags: ["--limits-json-body", "2MiB"],
      setting: "limits.jsonBody",
      want: 2 * 1024 * 1024,
    },
  ]) {
    it(`reads ${row.name}`, () => assert.equal(proxy(row).settings.number(row.setting), row.want));
  }

  it("reads lists with commas, and from the file as lists", () => {
    const want = ["10.0.0.0/8", "2001:db8::/32"];
    assert.deepEqual(
      proxy({ flags: ["--trusted-proxies-cidrs=10.0.0.0/8, 2001:db8::/32"] }).settings.list("trustedProxies.cidrs"),
      want,
    );
    assert.deepEqual(
      proxy({ file: `trustedProxies: {cidrs: ["10.0.0.0/8", "2001:db8::/32"]}` }).settings.list("trustedProxies.cidrs"),
      want,
    );
  });

  for (const row of [
    { name: "an unknown flag", flags: ["--bogus"], want: /unknown flag --bogus/ },
    { name: "a flag of another command", flags: ["--manifests", "x"], want: /--manifests is a setting of standalone/ },
    { name: "a flag given twice", flags: ["--limits-json-depth=9", "--limits-json-depth=9"], want: /given twice/ },
    { name: "an argument that is no flag", flags: ["extra"], want: /extra/ },
    { name: "a number out of range", flags: ["--limits-json-depth", "9999"], want: /whole number from 8 to 512/ },
    { name: "a number with a fraction", flags: ["--limits-json-depth", "9.5"], want: /whole number/ },
    { name: "a flag without a value", flags: ["--listen", "--drain-timeout=5s"], want: /^--listen needs a value$/ },
    { name: "a flag at the end without a value", flags: ["--listen"], want: /^--listen needs a value$/ },
    {
      name: "a duration below zero",
      flags: ["--drain-timeout", "-5s"],
      want: /^--drain-timeout must be a duration such as .*, not "-5s"$/,
    },
    { name: "a duration without a unit", flags: ["--timeouts-total", "10"], want: /duration/ },
    { name: "a duration that timers cannot hold", flags: ["--timeouts-total", "600h"], want: /24 days/ },
    {
      name: "a duration that is too short",
      flags: ["--quota-redis-decision-timeout", "9ms"],
      want: /--quota-redis-decision-timeout must be at least 10ms/,
    },
    {
      name: "a duration that is too long",
      flags: ["--quota-redis-decision-timeout", "2s1ms"],
      want: /--quota-redis-decision-timeout must be at most 2000ms/,
    },
    { name: "a size of unknown unit", flags: ["--limits-json-body", "10MB"], want: /size/ },
    { name: "an address without a port", flags: ["--listen", "127.0.0.1"], want: /HOST:PORT/ },
    { name: "a port that is none", flags: ["--listen", "127.0.0.1:70000"], want: /HOST:PORT/ },
    { name: "a range that is none", flags: ["--trusted-proxies-cidrs", "10.0.0.0"], want: /address range/ },
    {
      name: "a value outside its choices",
      flags: ["--quota-store", "Memcached"],
      want: /one of Embedded, Memory, Redis/,
    },
    { name: "an unknown member of the file", file: "quota: {stroe: Memory}", want: /no setting quota.stroe/ },
    { name: "an unknown group of the file", file: "quotas: {store: Memory}", want: /no setting quotas/ },
    { name: "a file that is no mapping", file: "- a", want: /no setting/ },
    { name: "a file that is no YAML", file: "a: [", want: /--config settings.yaml/ },
    {
      name: "a wrong type in the file",
      file: "limits: {jsonDepth: deep}",
      want: /limits.jsonDepth in the file must be a whole number/,
    },
    {
      name: "a wrong value in a variable",
      variables: { TOLLGATE_LOGS_LEVEL: "loud" },
      want: /TOLLGATE_LOGS_LEVEL must be one of/,
    },
  ]) {
    it(`refuses ${row.name}`, () =>
      assert.match(
        problems(() => proxy(row)),
        row.want,
      ));
  }

  it("refuses a client address that is none", () => {
    const flags = ["--manifests=x", "--model=m", "--key=a/b"];
    const explain = (ip: string) => read("explain", { flags: [...flags, "--ip", ip] });
    assert.equal(
      problems(() => explain("999")),
      '--ip must be an IP address such as 10.1.2.3, not "999"',
    );
    for (const ip of ["10.1.2.3", "::1"]) assert.equal(explain(ip).settings.text("ip"), ip);
  });

  it("says in words what a text must be, never as a regular expression", () => {
    for (const setting of settingList.filter(({ pattern }) => pattern !== undefined)) {
      const [command] = setting.commands.filter((name): name is Command => commands.some((known) => known === name));
      const text = problems(() => read(command ?? assert.fail(), { flags: [`${setting.flag}=!`] }));
      const line = text.split("\n").find((one) => one.startsWith(`${setting.flag} `)) ?? assert.fail(text);
      assert.match(line, /such as|must have the form [A-Z]+[/=]/);
      assert.doesNotMatch(line, /\^|\[a-z/);
    }
  });

  it("names every problem at once", () => {
    const text = problems(() => read("standalone", { flags: ["--processes=0", "--logs-level=loud"] }));
    assert.deepEqual(text.split("\n").length, 3, text);
    assert.match(text, /--manifests is required/);
  });

  it("warns of unknown variables but not of those that Kubernetes injects", () => {
    const variables = {
      TOLLGATE_BOGUS: "1",
      TOLLGATE_PORT: "tcp://10.0.0.1:80",
      TOLLGATE_SERVICE_HOST: "10.0.0.1",
      TOLLGATE_PORT_8080_TCP_ADDR: "10.0.0.1",
    };
    assert.deepEqual(proxy({ variables }).warnings, ["the variable TOLLGATE_BOGUS is not a setting and is ignored"]);
  });

  it("keeps the settings of other commands in a shared file", () => {
    assert.equal(proxy({ file: "processes: 2\nlogs: {level: warn}" }).settings.text("logs.level"), "warn");
  });

  it("has the defaults of proxy/limits.ts", () => {
    assert.deepEqual(toProxySettings(proxy({}).settings).limits, defaultLimits);
  });

  it("leaves one address half of the connections", () => {
    const limitsOf = (...flags: string[]) => toProxySettings(proxy({ flags }).settings).limits;
    assert.equal(limitsOf("--limits-connections=501").connectionsPerAddressMax, 251);
    assert.equal(limitsOf("--limits-connections-per-address=7").connectionsPerAddressMax, 7);
  });

  it("gives a child proxy the same settings", () => {
    const given = [
      "--limits-json-body=1MiB",
      "--trusted-proxies-cidrs=10.0.0.0/8,::1/128",
      "--no-logs-access",
      "--quota-accept-empty",
    ];
    const standalone = read("standalone", { flags: ["--manifests", "m", ...given] }).settings;
    const flags = toProxyFlags(standalone, { operator: "unix:/run/push.sock", proxyName: "proxy-0" });
    const child = read("proxy", { flags });
    assert.deepEqual(
      toProxySettings(child.settings),
      toProxySettings(
        read("proxy", { flags: ["--operator", "unix:/run/push.sock", "--proxy-name=proxy-0", ...given] }).settings,
      ),
    );
    assert.equal(child.settings.flag("logs.access"), false);
  });

  for (const [flag, want] of [
    ["--tls-cert", /belong together/],
    ["--last-good-file", /needs --last-good-key-file/],
  ] as const) {
    it(`refuses ${flag} alone`, () =>
      assert.match(
        problems(() => toProxySettings(proxy({ flags: [flag, "x"] }).settings)),
        want,
      ));
  }

  it("refuses a staleness bound that an operator with nothing to say would pass", () => {
    const read = (bound: string) => toProxySettings(proxy({ flags: [`--key-staleness-bound=${bound}`] }).settings);
    assert.match(
      problems(() => read("19s")),
      /twice --push-heartbeat/,
    );
    assert.equal(read("20s").limits.keyStalenessMaxMs, 20_000);
    assert.equal(read("0s").limits.keyStalenessMaxMs, 0);
  });
});

describe("help", () => {
  it("shows every command", () => {
    const text = renderProgramHelp("1.2.3", false);
    for (const command of commands) assert.match(text, new RegExp(`^  ${command} `, "m"));
  });

  for (const command of commands) {
    it(`shows every setting of ${command} with its default, within the width`, () => {
      const text = renderCommandHelp(command, false, 90);
      for (const setting of settingsOf(command)) {
        assert.ok(text.includes(`  ${setting.flag}`), setting.flag);
        assert.ok(
          text.includes(`[${describeDefault(setting, command)}]`) || describeDefault(setting, command) === "",
          setting.flag,
        );
      }
      assert.deepEqual(
        text.split("\n").filter((line) => line.startsWith("      ") && line.length > 90),
        [],
      );
    });
  }

  it("describes every setting", () => {
    assert.deepEqual(
      settingList.filter((setting) => setting.description.length < 15 || setting.commands.length === 0),
      [],
    );
  });

  it("is asked for by --help whatever else is missing", () => {
    assert.equal(read("standalone", { flags: ["--help"] }).isHelpWanted, true);
  });
});
