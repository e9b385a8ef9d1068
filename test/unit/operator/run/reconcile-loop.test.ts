/** What becomes of changes whose pass throws: nothing is lost, and nobody is served a half configuration. */
import assert from "node:assert/strict";
import { Compilation, type CompileChanges } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import { type Changes, Publisher } from "#operator/push/publisher";
import { everyObject } from "#operator/resources/mutable-resource-set";
import type { ResourceChange } from "#operator/resources/resource";
import { ReconcileLoop } from "#operator/run/reconcile-loop";
import { ManifestStore } from "#operator/source/manifest-store";
import { putText } from "#test/support/compile-manifests";
import { waitFor } from "#test/support/wait-for";

const key = (name: string, digit: string, state = "Active", account = "") => `
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: ${name}, namespace: a}
spec: {state: ${state}, credentials: [{name: c, sha256: "${digit.repeat(64)}"}]${account}}
---`;
const withAccount = ", accountRef: {name: acct}";
const account = `
apiVersion: tollgate.dev/v1alpha1
kind: Account
metadata: {name: acct, namespace: a}
spec: {}
---`;
const channel = `
apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: c, namespace: a}
spec: {provider: OpenAICompatible, baseURL: "https://models.example/v1"}
---`;
const route = (name: string, model = name) => `
apiVersion: tollgate.dev/v1alpha1
kind: ModelRoute
metadata: {name: ${name}, namespace: a}
spec: {model: ${model}, targets: [{name: t, channelRef: {name: c}}]}
---`;
const everything = [
  channel,
  account,
  key("one", "1"),
  key("two", "2", "Active", withAccount),
  route("m1"),
  route("m2"),
];

/** Throws once after so many steps of an update, or not at all. */
class FailingCompilation extends Compilation {
  stepsLeft = Number.POSITIVE_INFINITY;

  override *updateInSteps(changes: Iterable<ResourceChange>): Generator<void, CompileChanges> {
    const steps = super.updateInSteps(changes);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      this.stepsLeft -= 1;
      if (this.stepsLeft < 0) {
        this.stepsLeft = Number.POSITIVE_INFINITY;
        throw new Error("a fault of the compiler");
      }
      yield;
    }
  }
}

/** Throws once when so many objects have been taken. */
class FailingPublisher extends Publisher {
  objectsLeft = Number.POSITIVE_INFINITY;

  override async publishChangesInSlices(changes: Changes): Promise<void> {
    const count = () => {
      this.objectsLeft -= 1;
      if (this.objectsLeft >= 0) return;
      this.objectsLeft = Number.POSITIVE_INFINITY;
      throw new Error("a fault of the publisher");
    };
    const upserts = changes.upserts;
    function* counted() {
      for (const upsert of upserts) {
        count();
        yield upsert;
      }
    }
    await super.publishChangesInSlices({ ...changes, upserts: counted() });
  }
}

describe("a pass over the configuration that throws", () => {
  let store: ManifestStore;
  let compilation: FailingCompilation;
  let publisher: FailingPublisher;
  let pipeline: ReconcileLoop;
  let failures: unknown[];
  let told: Set<string>;
  let statusFailures: number;

  function start(): void {
    store = new ManifestStore();
    compilation = new FailingCompilation(store.resources, defaultCompileSettings);
    publisher = new FailingPublisher();
    failures = [];
    told = new Set();
    statusFailures = 0;
    pipeline = new ReconcileLoop({
      compilation,
      publisher,
      onPass({ results }) {
        statusFailures -= 1;
        if (statusFailures >= 0) throw new Error("a fault of status");
        for (const id of results.keys()) told.add(id);
      },
      onFailure: (cause) => failures.push(cause),
      onFault: (id) => assert.fail(id),
      retryMinMs: 20,
    });
  }
  beforeEach(start);
  afterEach(() => {
    pipeline.close();
    publisher.close();
  });

  const put = (...texts: string[]) => putText(store, "all.yaml", texts.join("\n"));
  const published = () => JSON.stringify([...publisher.snapshot.objects()].sort());
  const wanted = () => {
    const whole = new Compilation(store.resources, defaultCompileSettings);
    whole.update(everyObject(store.resources));
    const fresh = new Publisher();
    fresh.publish(whole.objects);
    return JSON.stringify([...fresh.snapshot.objects()].sort());
  };
  const converged = () => waitFor("what the manifests say", () => publisher.hasPublished && published() === wanted());

  it("publishes nothing before everything was compiled once, whatever else changes meanwhile", async () => {
    put(...everything);
    const all = everyObject(store.resources);
    for (let steps = 0; steps < 40; steps += 1) {
      start();
      putText(store, "all.yaml", everything.join("\n"));
      compilation.stepsLeft = steps;
      const isDone = await pipeline.enqueue(all);
      if (isDone) continue;
      assert.equal(publisher.hasPublished, false);
      assert.equal(failures.length, 1);
      putText(store, "other.yaml", key("three", "3"));
      await pipeline.enqueue([{ kind: "ApiKey", namespace: "a", name: "three" }]);
      await converged();
      await waitFor("status", () => told.has("key/a/one") && told.has("route/a/m2") && told.has("key/a/three"));
      pipeline.close();
      publisher.close();
    }
  });

  // The account comes, a key goes, another is suspended, a name changes hands: each marks others that must follow.
  it("loses none of its changes, wherever it throws", async () => {
    for (let steps = 0; steps < 20; steps += 1) {
      start();
      put(
        channel,
        key("one", "1"),
        key("two", "2", "Active", withAccount),
        key("twin", "1"),
        route("m1"),
        route("m2", "m1"),
      );
      await pipeline.enqueue(everyObject(store.resources));
      compilation.stepsLeft = steps;
      await pipeline.enqueue(
        put(
          channel,
          account,
          key("two", "2", "Suspended", withAccount),
          key("twin", "1"),
          route("m1", "m3"),
          route("m2", "m1"),
        ),
      );
      await converged();
      assert.ok(publisher.snapshot.held("key/a/twin"), `${steps}`);
      assert.ok(publisher.snapshot.held("route/a/m2"), `${steps}`);
      await waitFor("status", () => told.has("key/a/twin"));
      assert.equal(compilation.isUnderWay("key/a/two"), false);
      pipeline.close();
      publisher.close();
    }
  });

  it("publishes what comes while status is still to be told", async () => {
    pipeline.close();
    start();
    put(...everything);
    statusFailures = 1;
    assert.equal(await pipeline.enqueue(everyObject(store.resources)), false);
    assert.equal(publisher.hasPublished, true);
    statusFailures = 1_000;
    await pipeline.enqueue(put(channel, account, key("one", "1", "Suspended"), key("two", "3"), route("m1", "m4")));
    assert.equal(published(), wanted());
    statusFailures = 0;
    await waitFor("status", () => told.has("key/a/one") && told.has("key/a/two"));
  });

  it("publishes no half of what changed together where taking it fails", async () => {
    put(...everything);
    publisher.objectsLeft = 3;
    assert.equal(await pipeline.enqueue(everyObject(store.resources)), false);
    publisher.setLacked(new Set());
    assert.equal(publisher.hasPublished, false);
    await converged();
    publisher.objectsLeft = 1;
    const before = published();
    await pipeline.enqueue(put(channel, account, key("one", "1", "Suspended"), key("two", "3"), route("m1", "m4")));
    assert.equal(published(), before);
    await converged();
    assert.equal(failures.length, 2);
  });

  it("tells status again of what it could not hear", async () => {
    put(...everything);
    statusFailures = 1;
    assert.equal(await pipeline.enqueue(everyObject(store.resources)), false);
    assert.ok(publisher.hasPublished);
    await waitFor("status", () => told.has("key/a/one") && told.has("route/a/m2"));
    assert.equal(await pipeline.enqueue([]), true);
    assert.equal(failures.length, 1);
  });

  it("is not tried again after the end", async () => {
    put(...everything);
    compilation.stepsLeft = 3;
    await pipeline.enqueue(everyObject(store.resources));
    pipeline.close();
    assert.equal(await pipeline.enqueue([]), false);
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(publisher.hasPublished, false);
  });
});
