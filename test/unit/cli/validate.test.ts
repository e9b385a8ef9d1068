import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { validateCommand } from "#cli/validate";

const good = `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: ci-bot, namespace: team-a}
spec:
  credentials:
  - {name: current, sha256: ${"ab".repeat(32)}}
`;
const bad = `${good.replace("sha256: ", "sha256: x")}  limits:
  - name: burst
    unit: Requests
    limit: "60"
    period: Minute
    timeZone: UTC
`;

const channel = (spec: string) =>
  `apiVersion: tollgate.dev/v1alpha1\nkind: Channel\nmetadata: {name: c, namespace: team-a}\nspec: {${spec}}\n`;
const route = (name: string, namespace: string) =>
  `apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: c, namespace: ${namespace}}
spec: {provider: OpenAICompatible, baseURL: https://models.example/v1}
---
apiVersion: tollgate.dev/v1alpha1
kind: ModelRoute
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  targets: [{name: t, channelRef: {name: c}}]
  keySelector: {namespaces: {from: All}}
`;

describe("tollgate validate", () => {
  let folder = "";

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-validate-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function write(name: string, content: string): Promise<string> {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  }

  async function run(
    paths: readonly string[],
    isTerminal = false,
    stdin = "",
    egressAllowCIDRs: readonly string[] = [],
  ): Promise<{ status: number; out: string; err: string }> {
    let out = "";
    let err = "";
    const status = await validateCommand(
      paths,
      {
        stdout: { write: (text) => (out += text) },
        stderr: { write: (text) => (err += text) },
        isTerminal,
        stdin: Readable.from([stdin]),
      },
      egressAllowCIDRs,
    );
    return { status, out, err };
  }

  it("ends with 0 and a summary for clean files", async () => {
    const file = await write("key.yaml", good);
    assert.deepEqual(await run([file]), { status: 0, out: "1 object, 1 file, no problems\n", err: "" });
  });

  it("prints file, line, column, object, field and what to do for each problem", async () => {
    const file = await write("key.yaml", bad);
    const { status, out } = await run([file]);
    assert.equal(status, 1);
    assert.deepEqual(out.split("\n"), [
      `${file}:6:21  ApiKey team-a/ci-bot  spec.credentials[0].sha256  Too long: may not be more than 64 characters`,
      `${file}:12:5  ApiKey team-a/ci-bot  spec.limits[0].timeZone  remove timeZone or set period to Day, Week or Month: only these follow a calendar`,
      "1 object, 1 file, 2 problems",
      "",
    ]);
  });

  it("reads folders with everything below and leaves other files alone", async () => {
    await write("a.yaml", good);
    await write("deep/er/b.yml", good.replace("ci-bot", "b").replaceAll("ab", "cd"));
    await write("c.json", JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } }));
    await write("README.md", "a: [");
    await write(".hidden.yaml", "a: [");
    const { status, out } = await run([folder]);
    assert.equal(out, "3 objects, 3 files, no problems\n");
    assert.equal(status, 0);
  });

  it("checks references across files", async () => {
    const key = await write("key.yaml", good.replace("spec:", "spec:\n  accountRef: {name: team-a}"));
    assert.equal((await run([key])).status, 1);
    const account = await write(
      "account.yaml",
      "apiVersion: tollgate.dev/v1alpha1\nkind: Account\nmetadata: {name: team-a, namespace: team-a}\nspec: {}\n",
    );
    assert.equal((await run([key, account])).status, 0);
  });

  it("warns of a Secret that is not among the files and stays clean", async () => {
    const file = await write("key.yaml", good.replace(/sha256: \w+/, "secretKeyRef: {name: ci-bot-key}"));
    const { status, out } = await run([file]);
    assert.equal(status, 0);
    assert.match(
      out,
      /:6:36 {2}ApiKey team-a\/ci-bot {2}spec\.credentials\[0\]\.secretKeyRef\.name {2}warning: no Secret ci-bot-key/,
    );
    assert.match(out, /1 object, 1 file, no problems, 1 warning\n$/);
  });

  for (const { name, text, wanted } of [
    {
      name: "an unknown time zone",
      text:
        good +
        `  limits:\n  - {name: a, unit: Requests, limit: "1", period: Day}\n  - name: daily\n    unit: Requests\n    limit: "60"\n    period: Day\n    timeZone: Mars/Base\n`,
      wanted: /:13:5 {2}ApiKey team-a\/ci-bot {2}spec\.limits\[1\]\.timeZone {2}"Mars\/Base" is not an IANA time zone/,
    },
    {
      name: "a preset that does not fit the provider",
      text: channel("provider: GeminiCompatible, preset: groq"),
      wanted: /:4:\d+ {2}Channel team-a\/c {2}spec\.preset {2}groq needs spec\.provider OpenAICompatible or none, /,
    },
    {
      name: "an address that no setting allows",
      text: channel("provider: OpenAICompatible, baseURL: http://169.254.169.254/v1"),
      wanted: /spec\.baseURL {2}169\.254\.169\.254 /,
    },
    {
      name: "a public name that a route of another namespace has",
      text: ["a", "b"].map((namespace) => route("m", namespace)).join("---\n"),
      wanted: /:18:1 {2}ModelRoute b\/m {2}ModelRoute a\/m came first and serves m to the same namespaces/,
    },
  ]) {
    it(`tells what the operator will refuse: ${name}`, async () => {
      const { status, out } = await run([await write("one.yaml", text)]);
      assert.equal(status, 1);
      assert.match(out, wanted);
      assert.match(out, /, 1 problem/);
    });
  }

  it("takes the private addresses that the operator is given as allowed, and warns where it is not told of any", async () => {
    const file = await write("one.yaml", channel("provider: OpenAICompatible, baseURL: http://10.1.2.3/v1"));
    const verdict =
      /spec\.baseURL {2}(warning: )?10\.1\.2\.3 is a private address; add its network to the setting egress\./;
    const allowed = await run([file], false, "", ["10.0.0.0/8"]);
    assert.equal(allowed.status, 0);
    assert.doesNotMatch(allowed.out, verdict);
    const refused = await run([file], false, "", ["10.9.0.0/16"]);
    assert.equal(refused.status, 1);
    assert.equal(verdict.exec(refused.out)?.[1], undefined);
    const unknown = await run([file]);
    assert.equal(unknown.status, 0);
    assert.equal(verdict.exec(unknown.out)?.[1], "warning: ");
  });

  it("says once what two of its checks find", async () => {
    const file = await write("key.yaml", [good.replace("ci-bot", "z"), good].join("---\n"));
    const { status, out } = await run([file]);
    assert.equal(status, 1);
    assert.match(out, /ApiKey team-a\/z .* the same key belongs to ApiKey team-a\/ci-bot/);
    assert.match(out, /, 1 problem\n$/);
  });

  it("reads standard input for -", async () => {
    const { status, out } = await run(["-"], false, "a: 1\na: 2\n");
    assert.equal(status, 1);
    assert.match(out, /^\(stdin\):2:1 {2}duplicate member/);
  });

  it("says where the text is broken", async () => {
    const file = await write("broken.yaml", "a: 1\nb: [1\n");
    const { status, out } = await run([file]);
    assert.equal(status, 1);
    assert.ok(out.startsWith(`${file}:3:1  `), out);
  });

  it("colours a terminal and nothing else", async () => {
    const file = await write("key.yaml", bad);
    assert.ok((await run([file], true)).out.includes("\u001b["));
    assert.ok(!(await run([file], false)).out.includes("\u001b["));
  });

  it("lets no control characters of a file through", async () => {
    const file = await write("key.yaml", good.replace("spec:", 'spec:\n  "\\e[2Jx": 1').replace("ci-bot", '"\\e[31m"'));
    const { status, out } = await run([file]);
    assert.equal(status, 1);
    assert.ok(!out.includes("\u001b"), out);
  });

  it("ends with 2 when used wrongly", async () => {
    for (const paths of [[], [join(folder, "absent.yaml")], [folder]]) {
      const { status, err } = await run(paths);
      assert.equal(status, 2);
      assert.match(err, /^tollgate validate: /);
    }
  });

  it("ends with 2 for a link that leads nowhere", async () => {
    await symlink(join(folder, "absent"), join(folder, "link.yaml"));
    assert.equal((await run([folder])).status, 2);
  });
});
