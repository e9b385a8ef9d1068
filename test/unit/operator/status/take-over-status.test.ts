import assert from "node:assert/strict";
import { buildAuthority } from "#operator/certificates/build-certificate";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import { everyObject } from "#operator/resources/mutable-resource-set";
import { ClusterStore } from "#operator/source/kubernetes/cluster-store";
import { ManifestStore } from "#operator/source/manifest-store";
import type { ResourceAcknowledgement } from "#operator/status/conditions";
import type { StatusDocument } from "#operator/status/status-document";
import { StatusReconciler, type StatusReconcilerOptions } from "#operator/status/status-reconciler";
import { putText } from "#test/support/compile-manifests";

const id = "key/a/bot";
const acknowledgement = (state: ResourceAcknowledgement["state"]): ResourceAcknowledgement => {
  return { state, readyProxies: 2, acknowledgedBy: state === "Programmed" ? 2 : 0, rejects: [] };
};

describe("a StatusReconciler that begins where another ended", () => {
  let compilation: Compilation;
  let state: ResourceAcknowledgement;
  let changes: (StatusDocument | undefined)[];

  beforeEach(() => {
    const store = new ManifestStore();
    const credentials = [{ name: "one", sha256: "1".repeat(64) }];
    const api = { apiVersion: "tollgate.dev/v1alpha1", kind: "ApiKey" };
    const key = { ...api, metadata: { name: "bot", namespace: "a" }, spec: { credentials } };
    putText(store, "keys.yaml", JSON.stringify(key));
    compilation = new Compilation(store.resources, defaultCompileSettings);
    compilation.update(everyObject(store.resources));
    compilation.endPass();
    changes = [];
  });

  function keep(inherited: () => StatusDocument | undefined, nowText = "2026-11-21T12:00:00Z"): StatusReconciler {
    const reconciler = new StatusReconciler({
      compilation,
      acknowledgementOf: () => state,
      now: () => Date.parse(nowText),
      inherited,
      onChange: (_before, after) => changes.push(after),
    });
    reconciler.reconcileAll();
    return reconciler;
  }
  /** What an operator before wrote when all proxies had the key. */
  function programmed(): StatusDocument {
    state = acknowledgement("Programmed");
    const document = keep(() => undefined, "2026-01-01T00:00:00Z").statusOf(id) ?? assert.fail();
    changes = [];
    state = acknowledgement("Pending");
    return document;
  }
  const conditionOf = (reconciler: StatusReconciler) => {
    const found = reconciler.statusOf(id)?.status.conditions.find(({ type }) => type === "Programmed");
    return `${found?.status} ${found?.reason}`;
  };

  it("changes nothing while the proxies come back", () => {
    const before = programmed();
    const reconciler = keep(() => before);
    assert.equal(reconciler.statusOf(id), before);
    assert.deepEqual(changes, []);
    state = acknowledgement("Programmed");
    reconciler.reconcileAcknowledgements();
    assert.deepEqual(changes, []);
    assert.equal(reconciler.statusOf(id)?.status.conditions[0]?.lastTransitionTime, "2026-01-01T00:00:00Z");
  });

  it("does not believe what was said of another version", () => {
    const before = programmed();
    const conditions = before.status.conditions.map((condition) => ({ ...condition, observedGeneration: 7 }));
    const reconciler = keep(() => ({ ...before, status: { ...before.status, conditions } }));
    assert.equal(conditionOf(reconciler), "False Pending");
    assert.equal(changes.length, 1);
  });

  for (const { name, credential } of [
    { name: "another secret", credential: { fingerprint: "0".repeat(12) } },
    { name: "another version of its Secret", credential: { secretResourceVersion: "41" } },
    { name: "another credential", credential: { name: "other" } },
  ]) {
    it(`does not believe what was said of ${name}`, () => {
      const before = programmed();
      const told = "credentials" in before.status ? (before.status.credentials ?? []) : [];
      assert.equal(told.length, 1);
      const credentials = told.map((one) => ({ ...one, ...credential }));
      const reconciler = keep(() => ({ ...before, status: { ...before.status, credentials } }));
      assert.equal(conditionOf(reconciler), "False Pending");
    });
  }

  it("believes the last word of the one before it when that comes late, while it still listens", () => {
    const before = programmed();
    const reconciler = keep(() => undefined);
    assert.equal(conditionOf(reconciler), "False Pending");
    reconciler.observe(id, before, false);
    assert.equal(conditionOf(reconciler), "False Pending");
    reconciler.observe(id, before, true);
    assert.equal(conditionOf(reconciler), "True Programmed");
  });

  it("keeps the observed status in place of its own where they mean the same", () => {
    const before = programmed();
    state = acknowledgement("Programmed");
    const reconciler = keep(() => undefined);
    reconciler.observe(id, before, false);
    assert.equal(reconciler.statusOf(id), before);
    assert.equal(changes.length, 1);
  });

  it("forgets everything when it is to begin anew", () => {
    const before = programmed();
    let inherited: StatusDocument | undefined = before;
    const reconciler = keep(() => inherited);
    inherited = undefined;
    reconciler.reset();
    assert.equal(reconciler.statusOf(id), undefined);
    reconciler.reconcileAll();
    assert.equal(conditionOf(reconciler), "False Pending");
  });

  describe("with a channel whose credential was refused", () => {
    const channelId = "channel/a/openai";
    let observed: ReturnType<NonNullable<StatusReconcilerOptions["observeUse"]>>;
    let store: ClusterStore;
    const takenOverMs = Date.parse("2026-11-21T12:00:00Z");
    let passedMs: number;
    const caBundleRef = { name: "up" };

    beforeEach(() => {
      passedMs = 0;
      store = new ClusterStore({ onChange: () => undefined, fetchMissing: async () => undefined });
      const metadata = { name: "openai", namespace: "a", uid: "uid-openai", resourceVersion: "42", generation: 1 };
      const credentials = [{ name: "main", secretKeyRef: { name: "openai" } }];
      const channel = { apiVersion: "tollgate.dev/v1alpha1", kind: "Channel", metadata };
      store.put("Channel", { ...channel, spec: { provider: "OpenAI", credentials } });
      const apiKey = Buffer.from("provider-secret-0123456789").toString("base64");
      store.put("Secret", { metadata, data: { apiKey } });
      compile();
      state = acknowledgement("Programmed");
    });

    function compile(): void {
      compilation = new Compilation(store.resources, defaultCompileSettings);
      compilation.update(everyObject(store.resources));
      compilation.endPass();
    }

    function keepObserving(inherited: StatusDocument | undefined): StatusReconciler {
      const reconciler = new StatusReconciler({
        compilation,
        acknowledgementOf: () => state,
        now: () => takenOverMs + passedMs,
        inherited: () => inherited,
        observeUse: () => observed,
        onChange: (_before, after) => changes.push(after),
      });
      reconciler.reconcileAll();
      return reconciler;
    }
    const healthOf = (reconciler: StatusReconciler): string => {
      const { conditions, ...status } = reconciler.statusOf(channelId)?.status ?? assert.fail();
      const condition = conditions.find(({ type }) => type === "Healthy");
      const [credential] = "credentials" in status ? (status.credentials ?? []) : [];
      return `${condition?.reason} ${credential && "healthy" in credential ? credential.healthy : undefined}`;
    };

    it("believes that it is programmed only with the Secrets that were", () => {
      observed = {};
      const inherited = keepObserving(undefined).statusOf(channelId) ?? assert.fail();
      const told = "credentials" in inherited.status ? (inherited.status.credentials ?? []) : [];
      assert.deepEqual(
        told.map((one) => "secretResourceVersion" in one && one.secretResourceVersion),
        ["42"],
      );
      state = acknowledgement("Pending");
      const reasonWith = (version: object) => {
        const credentials = told.map((one) => ({ ...one, ...version }));
        const reconciler = keepObserving({ ...inherited, status: { ...inherited.status, credentials } });
        return reconciler.statusOf(channelId)?.status.conditions.find(({ type }) => type === "Programmed")?.reason;
      };
      assert.equal(reasonWith({}), "Programmed");
      assert.equal(reasonWith({ secretResourceVersion: "41" }), "Pending");
      assert.equal(reasonWith({ secretResourceVersion: undefined }), "Pending");
    });

    for (const { name, tls, want } of [
      { name: "as long as proxies come back", tls: { serverName: "up.example" }, want: "Programmed" },
      { name: "no longer than that takes: its CA bundle may be another", tls: { caBundleRef }, want: "Pending" },
      {
        name: "no longer than that takes: its client certificate may be another",
        tls: { clientCertificateRef: caBundleRef },
        want: "Pending",
      },
    ]) {
      it(`takes a channel for programmed ${name}`, async () => {
        observed = {};
        const metadata = { namespace: "a", name: "openai", uid: "uid-openai", resourceVersion: "50", generation: 2 };
        const credentials = [{ name: "main", secretKeyRef: { name: "openai" } }];
        store.put("Channel", { metadata, spec: { provider: "OpenAI", credentials, tls } });
        const { certificate, privateKey } = await buildAuthority("up", { notBeforeMs: 0, notAfterMs: 1_000 });
        const base64 = (text: string) => Buffer.from(text).toString("base64");
        const data = { metadata: { namespace: "a", name: "up", uid: "uid-up", resourceVersion: "51" } };
        store.put("ConfigMap", { ...data, data: { "ca.crt": certificate } });
        store.put("Secret", { ...data, data: { "tls.crt": base64(certificate), "tls.key": base64(privateKey) } });
        compile();
        const inherited = keepObserving(undefined).statusOf(channelId);
        state = acknowledgement("Pending");
        const reconciler = keepObserving(inherited);
        const programmed = () =>
          reconciler.statusOf(channelId)?.status.conditions.find(({ type }) => type === "Programmed")?.reason;
        passedMs = 9_999;
        reconciler.reconcileDue();
        assert.equal(programmed(), "Programmed");
        passedMs = 10_000;
        reconciler.reconcileDue();
        assert.equal(programmed(), want);
        state = acknowledgement("Programmed");
        reconciler.reconcileAcknowledgements();
        assert.equal(programmed(), "Programmed");
        state = acknowledgement("Pending");
        passedMs = 60_000;
        reconciler.reconcileAll();
        assert.equal(programmed(), "Programmed");
      });
    }

    it("changes nothing until every proxy could tell, and then says what is known", () => {
      observed = { health: { ejected: ["main"], formerInUse: ["main"], hasTraffic: true } };
      const inherited = keepObserving(undefined).statusOf(channelId);
      changes = [];
      observed = { isHealthPartial: true };
      const reconciler = keepObserving(inherited);
      assert.deepEqual(changes, []);
      assert.equal(healthOf(reconciler), "Degraded False");
      observed = { isHealthPartial: false };
      reconciler.enqueue([channelId]);
      assert.equal(healthOf(reconciler), "NoTraffic undefined");
      assert.equal(changes.length, 1);
    });
  });
});
