import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { Compilation, type CompileChanges } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import { everyObject } from "#operator/resources/mutable-resource-set";
import { ManifestStore } from "#operator/source/manifest-store";
import type { ResourceAcknowledgement } from "#operator/status/conditions";
import { describeStatusChange } from "#operator/status/report-changes";
import type { StatusDocument } from "#operator/status/status-document";
import { StatusFiles } from "#operator/status/status-files";
import { StatusReconciler } from "#operator/status/status-reconciler";
import { putText } from "#test/support/compile-manifests";
import { waitFor } from "#test/support/wait-for";

const digest = "1".repeat(64);
const key = (spec = "") => `
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: bot, namespace: a}
spec: {credentials: [{name: one, sha256: "${digest}"}]${spec}}
`;
const acknowledgement = (state: ResourceAcknowledgement["state"], acknowledgedBy = 0): ResourceAcknowledgement => {
  return { state, readyProxies: 2, acknowledgedBy, rejects: state === "Rejected" ? [{ by: "p", why: "limits" }] : [] };
};

describe("StatusReconciler", () => {
  let store: ManifestStore;
  let compilation: Compilation;
  let reconciler: StatusReconciler;
  let isSyncing: boolean;
  let state: ResourceAcknowledgement;
  let nowMs: number;
  let changes: { readonly before: StatusDocument | undefined; readonly after: StatusDocument | undefined }[];

  beforeEach(() => {
    store = new ManifestStore();
    compilation = new Compilation(store.resources, defaultCompileSettings);
    state = acknowledgement("Pending");
    nowMs = Date.parse("2026-11-21T12:00:00Z");
    changes = [];
    isSyncing = false;
    reconciler = new StatusReconciler({
      isSyncing: () => isSyncing,
      compilation,
      acknowledgementOf: () => state,
      now: () => nowMs,
      onChange: (before, after) => changes.push({ before, after }),
    });
  });
  function put(text: string): void {
    putText(store, "keys.yaml", text);
    endPass(compilation.update(everyObject(store.resources)));
  }
  function endPass(pass: CompileChanges): void {
    compilation.endPass();
    reconciler.reconcile(pass);
  }
  const condition = (type: string) => {
    const found = reconciler.statusOf("key/a/bot")?.status.conditions.find((one) => one.type === type);
    return `${found?.status} ${found?.reason}`;
  };

  it("Programmed is true only when every ready proxy has acknowledged, and partial counts are no change", () => {
    put(key());
    assert.equal(condition("Programmed"), "False Pending");
    state = acknowledgement("Pending", 1);
    reconciler.reconcileAcknowledgements();
    assert.equal(changes.length, 1);
    state = acknowledgement("Programmed", 2);
    reconciler.reconcileAcknowledgements();
    assert.equal(condition("Programmed"), "True Programmed");
    assert.equal(changes.length, 2);
  });

  it("names the fields that proxies are too old for and some of those, and is not written for each that is upgraded", () => {
    put(key());
    const old = ["p1", "p2", "p3", "p4", "p5", "p6", "p7"];
    const tooOld = { fields: ["spec.a", "spec.b"], proxies: old, inForce: "elsewhere" as const };
    state = { ...acknowledgement("ProxyTooOld"), tooOld };
    reconciler.reconcileAcknowledgements();
    assert.equal(condition("Programmed"), "False ProxyTooOld");
    const conditions = reconciler.statusOf("key/a/bot")?.status.conditions;
    assert.equal(
      conditions?.find(({ type }) => type === "Programmed")?.message,
      "Proxies that do not know all of its fields deny the key: spec.a, spec.b unknown to p1, p2, p3, p4, p5 and 2 more. Upgrade these proxies.",
    );
    const told = changes.length;
    state = { ...state, tooOld: { ...tooOld, proxies: old.slice(1) } };
    reconciler.reconcileAcknowledgements();
    assert.equal(changes.length, told);
    // Where the key stands is another matter.
    state = { ...state, tooOld: { ...tooOld, inForce: "before" as const } };
    reconciler.reconcileAcknowledgements();
    assert.equal(changes.length, told + 1);
    state = acknowledgement("Programmed", 2);
    reconciler.reconcileAcknowledgements();
    assert.equal(condition("Programmed"), "True Programmed");
  });

  it("judges a version not before its pass has ended: what proxies acknowledged until then is the one before", () => {
    put(key());
    state = acknowledgement("Programmed", 2);
    reconciler.reconcileAll();
    const told = changes.length;
    putText(
      store,
      "keys.yaml",
      `${key(", state: Suspended")}---${key().replace("bot", "new").replace(digest, "2".repeat(64))}`,
    );
    const pass = compilation.update(everyObject(store.resources));
    reconciler.reconcileAll();
    reconciler.enqueue(["key/a/new", "key/a/bot"]);
    assert.equal(changes.length, told);
    state = acknowledgement("Pending");
    endPass(pass);
    assert.equal(condition("Programmed"), "False Pending");
    assert.equal(condition("Active"), "False Suspended");
  });

  it("does not fall when proxies join, but with a new version, a rejection or the loss of every proxy", () => {
    put(key());
    state = acknowledgement("Programmed", 2);
    reconciler.reconcileAcknowledgements();
    state = acknowledgement("Pending", 1);
    reconciler.reconcileAll();
    assert.equal(condition("Programmed"), "True Programmed");
    put(key(", state: Suspended"));
    assert.equal(condition("Programmed"), "False Pending");
    state = acknowledgement("Programmed", 2);
    reconciler.reconcileAll();
    state = acknowledgement("Rejected", 2);
    reconciler.reconcileAll();
    assert.equal(condition("Programmed"), "False Rejected");
    state = acknowledgement("NoProxies");
    reconciler.reconcileAll();
    assert.equal(condition("Programmed"), "False NoProxies");
  });

  it("Active turns by the clock alone, and the time of the turn is kept", () => {
    put(key(', expiresAt: "2026-11-21T12:00:10Z"'));
    assert.equal(condition("Active"), "True Active");
    nowMs += 9_000;
    reconciler.reconcileDue();
    assert.equal(changes.length, 1);
    nowMs += 1_000;
    reconciler.reconcileDue();
    assert.equal(condition("Active"), "False Expired");
    const conditions = reconciler.statusOf("key/a/bot")?.status.conditions ?? [];
    assert.deepEqual(
      conditions.map(({ lastTransitionTime }) => lastTransitionTime.slice(17, 19)),
      ["00", "00", "00", "10"],
    );
  });

  it("looks at many objects in slices that leave room for others", async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `n${index}`);
    put(
      names
        .map((name, index) => key().replace("bot", name).replace(digest, String(index).padStart(64, "0")))
        .join("---"),
    );
    await waitFor("a status for each", () => reconciler.documents.size === names.length);
    state = acknowledgement("Programmed", 2);
    const startMs = performance.now();
    reconciler.reconcileAll();
    assert.ok(performance.now() - startMs < 50);
    await waitFor("all programmed", () =>
      [...reconciler.documents.values()].every(({ status }) => status.conditions[2]?.status === "True"),
    );
  });

  it("lets a proxy that waits for its first configuration go before the status of many objects", async () => {
    const count = 1_500;
    const text = Array.from({ length: count }, (_, index) =>
      key().replace("bot", `n${index}`).replace(digest, String(index).padStart(64, "0")),
    );
    isSyncing = true;
    put(text.join("---"));
    assert.equal(reconciler.documents.size, 0);
    isSyncing = false;
    await waitFor("a status for each", () => reconciler.documents.size === count);
  });

  it("an object that is gone has no status", () => {
    put(key());
    putText(store, "keys.yaml", "");
    endPass(compilation.update([{ kind: "ApiKey", namespace: "a", name: "bot" }]));
    assert.equal(reconciler.documents.size, 0);
    assert.equal(changes.at(-1)?.after, undefined);
  });

  it("tells a terminal what is wrong, where, and when it is live again", () => {
    const origin = { file: "keys.yaml", line: 12 };
    const lines = () =>
      changes.flatMap(({ before, after }) => (after ? describeStatusChange(before, after, origin) : []));
    put(key(", state: Suspended"));
    assert.deepEqual(lines(), [
      "ApiKey a/bot: Active=False Suspended: Calls get 401; set spec.state to Active to allow them. (keys.yaml:12)",
    ]);
    changes.length = 0;
    state = acknowledgement("Programmed", 2);
    put(key());
    assert.deepEqual(lines(), [
      "ApiKey a/bot: Active=True Active: Calls with this key are accepted. (keys.yaml:12)",
      "ApiKey a/bot: Programmed=True Programmed: Acknowledged by every ready proxy (2). (keys.yaml:12)",
    ]);
  });
});

describe("StatusFiles", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-status-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const document = (message: string): StatusDocument => ({
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "Account",
    metadata: { namespace: "a", name: "one" },
    status: {
      conditions: [
        { type: "Accepted", status: "True", reason: "Valid", message, lastTransitionTime: "2026-11-21T12:00:00Z" },
      ],
    },
  });
  const fail = (cause: unknown) => assert.fail(String(cause));

  it("of very many objects writes only those that there is something to say about", async () => {
    const files = new StatusFiles({ folder, onFailure: fail, countOf: () => 1_001 });
    const path = join(folder, "Account", "a", "one.yaml");
    const [condition] = document("x").status.conditions;
    assert.ok(condition);
    const refused = { ...condition, status: "False" as const, reason: "Invalid" };
    files.put(document("first"));
    await files.flush();
    assert.throws(() => readFileSync(path), { code: "ENOENT" });
    files.put({ ...document("first"), status: { conditions: [refused] } });
    await files.flush();
    assert.match(readFileSync(path, "utf8"), /reason: Invalid/);
    // A later run knows the file too: well again means that it goes.
    await files.close();
    const restarted = new StatusFiles({ folder, onFailure: fail, countOf: () => 1_001 });
    await restarted.findPresent();
    restarted.put(document("first"));
    await restarted.close();
    assert.throws(() => readFileSync(path), { code: "ENOENT" });
  });

  it("writes a file for each object, once for each content, also after a restart", async () => {
    const files = new StatusFiles({ folder, onFailure: fail, countOf: () => 1 });
    for (const message of ["first", "second", "second"]) files.put(document(message));
    await files.close();
    assert.deepEqual(parse(readFileSync(join(folder, "Account", "a", "one.yaml"), "utf8")), document("second"));
    const restarted = new StatusFiles({ folder, onFailure: fail, countOf: () => 1 });
    const [condition] = document("second").status.conditions;
    assert.ok(condition);
    const later = { ...condition, lastTransitionTime: "2026-11-22T12:00:00Z" };
    restarted.put({ ...document("second"), status: { conditions: [later] } });
    await restarted.close();
    assert.equal(restarted.writes, 0);
  });

  for (const metadata of [
    { namespace: "a", name: "../../../elsewhere/one" },
    { namespace: "../../elsewhere", name: "one" },
    { namespace: "a/b", name: "one" },
    { namespace: "..", name: "one" },
    { namespace: "a", name: ".one" },
    { namespace: "a", name: "..\\one" },
    { namespace: "", name: "one" },
  ]) {
    it(`neither writes nor removes a file for ${metadata.namespace}/${metadata.name}, and says so`, async () => {
      const [elsewhere, status] = [join(folder, "elsewhere", "one.yaml"), join(folder, "data", "status")];
      mkdirSync(dirname(elsewhere));
      writeFileSync(elsewhere, "precious");
      const failures: string[] = [];
      const onFailure = (cause: unknown) => void failures.push(String(cause));
      const files = new StatusFiles({ folder: status, onFailure, countOf: () => 1 });
      files.put({ ...document("first"), metadata });
      files.remove({ kind: "Account", ...metadata });
      await files.close();
      assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), ["elsewhere", "elsewhere/one.yaml"]);
      assert.equal(readFileSync(elsewhere, "utf8"), "precious");
      assert.equal(failures.length, 2);
      assert.match(failures[0] ?? "", /cannot be the name of a file/);
    });
  }

  it("leaves hidden files in its folder alone", async () => {
    const path = join(folder, "Account", "a", ".keep.yaml");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    const files = new StatusFiles({ folder, onFailure: fail, countOf: () => 1 });
    await files.findPresent();
    files.removeAllBut(() => false);
    await files.close();
    assert.equal(readFileSync(path, "utf8"), "");
  });

  it("removes the file of an object that is gone, now or in an earlier run", async () => {
    const files = new StatusFiles({ folder, onFailure: fail, countOf: () => 1 });
    files.put(document("first"));
    await files.flush();
    const restarted = new StatusFiles({ folder, onFailure: fail, countOf: () => 1 });
    await restarted.findPresent();
    restarted.removeAllBut(({ name }) => name !== "one");
    await restarted.close();
    assert.throws(() => readFileSync(join(folder, "Account", "a", "one.yaml")), { code: "ENOENT" });
  });
});
