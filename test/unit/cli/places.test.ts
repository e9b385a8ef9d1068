/** Ports and key files of the commands, as their user meets them: told before anything is written. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAuthority } from "#operator/certificates/build-certificate";

const program = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));
const free = ["--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--operator-admin=127.0.0.1:0"];

describe("a command, before it writes anything,", function () {
  this.timeout(30_000);
  let folder: string;
  let rival: Server;
  let taken: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-places-"));
    mkdirSync(join(folder, "manifests"));
    const validity = { notBeforeMs: 0, notAfterMs: Date.now() + 3_600_000 };
    const [one, other] = await Promise.all([buildAuthority("one", validity), buildAuthority("other", validity)]);
    writeFileSync(join(folder, "one.crt"), one.certificate);
    writeFileSync(join(folder, "one.key"), one.privateKey);
    writeFileSync(join(folder, "other.key"), other.privateKey);
    writeFileSync(join(folder, "words"), "not a key\n");
    rival = createServer().listen(0, "127.0.0.1");
    await once(rival, "listening");
    const address = rival.address();
    taken = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  });
  after(() => {
    rival.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** @param command `cluster` is the operator of one; @param given replaces the usual flags */
  function run(command: string, given: readonly string[], variables: Readonly<Record<string, string>> = {}) {
    const usual = { standalone: free, operator: free.slice(2), proxy: free.slice(0, 2) }[command] ?? [];
    const names = [...given.map((flag) => flag.split("=")[0]), ...Object.keys(variables).map(flagOf)];
    const source = { proxy: ["--operator=unix:push.sock"], cluster: [] }[command] ?? ["--manifests=manifests"];
    const flags = [...source, "--data=data", ...usual.filter((flag) => !names.includes(flag.split("=")[0])), ...given];
    const { status, stderr } = spawnSync(
      process.execPath,
      [program, command === "cluster" ? "operator" : command, ...flags],
      {
        cwd: folder,
        env: { PATH: process.env["PATH"], ...variables },
        encoding: "utf8",
        timeout: 15_000,
        killSignal: "SIGKILL",
      },
    );
    return { status, stderr: stderr.replaceAll(`${folder}/`, "") };
  }

  function flagOf(variable: string): string {
    return `--${variable.replace("TOLLGATE_", "").replaceAll("_", "-").toLowerCase()}`;
  }

  for (const row of [
    { command: "standalone", flag: "--listen" },
    { command: "standalone", flag: "--operator-admin" },
    { command: "operator", flag: "--operator-admin" },
    { command: "proxy", flag: "--admin" },
  ]) {
    it(`${row.command} names ${row.flag} where another program has its port`, () => {
      const { status, stderr } = run(row.command, [`${row.flag}=${taken}`]);
      const want = `tollgate: ${row.flag} ${taken} cannot be opened: another program listens there; end it or choose another port\n`;
      assert.deepEqual([status, stderr], [1, want]);
      assert.equal(existsSync(join(folder, "data")), false);
    });
  }

  it("names the variable that gave it", () => {
    assert.match(run("standalone", [], { TOLLGATE_LISTEN: taken }).stderr, /^tollgate: TOLLGATE_LISTEN 127/);
  });

  it("tells of two settings with one port, and of an address that is not of this machine", () => {
    const two = run("standalone", ["--listen=127.0.0.1:18937", "--admin=127.0.0.1:18937"]).stderr;
    assert.match(
      two,
      /^tollgate: --admin 127\.0\.0\.1:18937 cannot be opened: --listen uses that port; choose another\n$/,
    );
    const foreign = run("proxy", ["--listen=192.0.2.1:18937"]).stderr;
    assert.match(foreign, /^tollgate: --listen 192\.0\.2\.1:18937 .*this machine has no address 192\.0\.2\.1/);
  });

  for (const row of [
    {
      flags: ["--tls-cert=absent", "--tls-key=one.key"],
      want: "--tls-cert absent cannot be used: there is no such file",
    },
    {
      flags: ["--tls-cert=one.crt", "--tls-key=manifests"],
      want: "--tls-key manifests cannot be used: it is a folder",
    },
    {
      command: "proxy",
      flags: ["--tls-cert=words", "--tls-key=one.key"],
      want: "--tls-cert words cannot be used: it holds no certificate in PEM form",
    },
    {
      flags: ["--tls-cert=one.crt", "--tls-key=words"],
      want: "--tls-key words cannot be used: it holds no private key in PEM form that opens without a passphrase",
    },
    {
      flags: ["--tls-cert=one.crt", "--tls-key=other.key"],
      want: "--tls-key other.key cannot be used: it does not belong to the certificate of --tls-cert one.crt",
    },
    {
      flags: ["--last-good-key-file=words"],
      want: "--last-good-key-file words cannot be used: words must hold 32 bytes, raw, in hex or in base64",
    },
    {
      command: "cluster",
      flags: ["--push-tls-mode=Files", "--push-tls-cert=one.crt", "--push-tls-key=one.key", "--push-tls-ca=absent"],
      want: "--push-tls-ca absent cannot be used: there is no such file",
    },
  ]) {
    it(`tells that ${row.want}`, () => {
      assert.deepEqual(run(row.command ?? "standalone", row.flags), { status: 1, stderr: `tollgate: ${row.want}\n` });
      assert.equal(existsSync(join(folder, "data")), false);
    });
  }

  it("standalone refuses half a pair as wrong use", () => {
    const { status, stderr } = run("standalone", ["--tls-cert=one.crt"]);
    assert.equal(status, 2);
    assert.match(stderr, /^tollgate: --tls-cert and --tls-key belong together/);
    assert.equal(existsSync(join(folder, "data")), false);
  });
});
