/** What must hold for any set of resources: nothing throws, everything is fit for the wire, and order is nothing. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import { everyObject, MutableResourceSet } from "#operator/resources/mutable-resource-set";
import type { AnyResource, ObjectMeta, ResourceSet } from "#operator/resources/resource";
import { validateObject } from "#proxy/snapshot/validate";
import { resourcesOf } from "#test/support/compile-manifests";

const name = fc.constantFrom("one", "two", "three", "four");
const namespace = fc.constantFrom("a", "b");
const digest = fc.constantFrom("1", "2", "3").map((digit) => digit.repeat(64));
const limits = fc.array(
  fc.record({
    name: fc.constant("limit"),
    unit: fc.constantFrom("Requests", "Cost", "Tokens"),
    limit: fc.constantFrom("1", "0.5", "200k", "9000000001", "999999999999999"),
    period: fc.constantFrom("Minute", "Day", "Lifetime"),
  }),
  { maxLength: 1 },
);

const keySpec = fc.record(
  {
    credentials: fc
      .array(
        fc.oneof(
          fc.record({ sha256: digest }),
          fc.record({ secretKeyRef: fc.record({ name }) }),
          fc.record({ generate: fc.record({ secretName: name }) }),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((list) => list.map((credential, index) => ({ name: `c${index}`, ...credential }))),
    accountRef: fc.record({ name }),
    state: fc.constantFrom("Active", "Suspended"),
    limits,
  },
  { requiredKeys: ["credentials"] },
);
const channelSpec = fc.record(
  {
    provider: fc.constantFrom("OpenAI", "Anthropic", "Gemini", "OpenAICompatible", "Cohere"),
    baseURL: fc.constantFrom(
      "https://models.example/v1",
      "http://10.0.0.1",
      "http://169.254.169.254/",
      "http://0x7f.1/",
    ),
    credentials: fc.constantFrom(
      [{ name: "c", secretKeyRef: { name: "one" } }],
      [{ name: "c", secretKeyRef: { name: "four" } }],
    ),
    allowedNamespaces: fc.constantFrom(
      { from: "All" },
      { from: "Selector", selector: { matchLabels: { team: "blue" } } },
    ),
    formats: fc.constantFrom(
      [{ type: "ChatCompletions" }],
      [{ type: "Messages" }, { type: "CountTokens" }, { type: "Passthrough", paths: ["/files", "/batches"] }],
    ),
    models: fc.constantFrom(
      [{ name: "m1" }],
      [
        { name: "m1", upstreamName: "x" },
        { name: "m*", upstreamName: "y-*" },
      ],
    ),
    state: fc.constantFrom("Active", "Draining"),
    limits,
  },
  { requiredKeys: ["provider"] },
);
const routeSpec = fc.record(
  {
    model: fc.constantFrom("m1", "m2", "m*"),
    aliases: fc.uniqueArray(fc.constantFrom("m1", "m2", "m3"), { maxLength: 2 }),
    visibility: fc.constantFrom("Listed", "Internal"),
    keySelector: fc.constantFrom(
      { namespaces: { from: "All" } },
      { namespaces: { from: "Selector", selector: { matchLabels: { team: "blue" } } } },
    ),
    targets: fc
      .array(
        fc.oneof(
          fc.record({ channelRef: fc.record({ name, namespace }) }),
          fc.record({ modelRef: fc.record({ name }) }),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((list) => list.map((target, index) => ({ name: `t${index}`, ...target }))),
    limits,
  },
  { requiredKeys: ["targets"] },
);
const accountSpec = fc.record(
  { credit: fc.constantFrom("1", "9000000000", "9000000001"), limits },
  { requiredKeys: [] },
);

const own = (kind: string, spec: fc.Arbitrary<object>) =>
  fc.record({
    apiVersion: fc.constant("tollgate.dev/v1alpha1"),
    kind: fc.constant(kind),
    metadata: fc.record({ name, namespace }),
    spec,
  });
const secret = fc.record({
  apiVersion: fc.constant("v1"),
  kind: fc.constant("Secret"),
  metadata: fc.record({ name, namespace }),
  stringData: fc.constantFrom({ apiKey: `sk-${"a".repeat(30)}` }, { apiKey: "short" }, { other: "x" }),
});
const blue = { apiVersion: "v1", kind: "Namespace", metadata: { name: "b", labels: { team: "blue" } } };
const manifests = fc
  .array(
    fc.oneof(
      own("ApiKey", keySpec),
      own("Channel", channelSpec),
      own("ModelRoute", routeSpec),
      own("Account", accountSpec),
      secret,
      fc.constant(blue),
    ),
    { minLength: 1, maxLength: 25 },
  )
  .map((objects) => resourcesOf(objects.map((object) => JSON.stringify(object)).join("\n---\n")));

const circumstances = fc.constantFrom<Partial<ObjectMeta>>(
  { createdAtMs: 1_000 },
  { createdAtMs: 2_000 },
  { createdAtMs: 3_000 },
  { isDeleting: true, finalizers: ["example.com/backup"] },
);

function all(resources: ResourceSet): AnyResource[] {
  const { apiKeys, channels, modelRoutes, accounts, secrets, configMaps, namespaces } = resources;
  return [apiKeys, channels, modelRoutes, accounts, secrets, configMaps, namespaces].flatMap((map) => [
    ...map.values(),
  ]);
}

/** What came out, in an order of its own. */
function outcomeOf(compilation: Compilation): string {
  return JSON.stringify([[...compilation.objects].sort(byId), [...compilation.results].sort(byId)]);
}

function byId([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function whole(resources: ResourceSet): Compilation {
  const compilation = new Compilation(resources, defaultCompileSettings);
  compilation.update(everyObject(resources));
  return compilation;
}

describe("compile, for any set of resources", () => {
  it("never throws, and every object passes the proxy's own validator", () => {
    fc.assert(
      fc.property(manifests, (resources) => {
        for (const [id, object] of whole(resources).objects) {
          assert.deepEqual(validateObject(object, id), { object });
        }
      }),
      { numRuns: 300 },
    );
  });

  it("says the same whatever the order, and however many passes it took", () => {
    fc.assert(
      fc.property(manifests, fc.infiniteStream(fc.nat()), (resources, random) => {
        const want = outcomeOf(whole(resources));
        const shuffled = all(resources)
          .map((resource) => ({ resource, at: random.next().value }))
          .sort((left, right) => left.at - right.at);
        const growing = new MutableResourceSet();
        const compilation = new Compilation(growing, defaultCompileSettings);
        for (const { resource } of shuffled) {
          growing.set(resource);
          compilation.update([{ kind: resource.kind, ...resource.metadata }]);
        }
        assert.equal(outcomeOf(compilation), want);
      }),
      { numRuns: 300 },
    );
  });

  it("taking objects away again leaves what the rest alone would give", () => {
    fc.assert(
      fc.property(manifests, fc.infiniteStream(fc.boolean()), (resources, coin) => {
        const shrinking = new MutableResourceSet();
        const rest = new MutableResourceSet();
        for (const resource of all(resources)) shrinking.set(resource);
        const compilation = whole(shrinking);
        for (const resource of all(resources)) {
          if (coin.next().value) {
            rest.set(resource);
            continue;
          }
          const change = { kind: resource.kind, ...resource.metadata };
          shrinking.delete(change);
          compilation.update([change]);
        }
        assert.equal(outcomeOf(compilation), outcomeOf(whole(rest)));
      }),
      { numRuns: 300 },
    );
  });

  it("objects made anew, with other ages, or being deleted are what a fresh operator takes them for", () => {
    fc.assert(
      fc.property(
        manifests,
        fc.infiniteStream(circumstances),
        fc.infiniteStream(fc.boolean()),
        (resources, next, coin) => {
          const changing = new MutableResourceSet();
          const renew = (resource: AnyResource) =>
            changing.set({ ...resource, metadata: { ...resource.metadata, ...next.next().value } });
          for (const resource of all(resources)) renew(resource);
          const compilation = whole(changing);
          for (const resource of all(resources).filter(() => coin.next().value)) {
            renew(resource);
            compilation.update([{ kind: resource.kind, ...resource.metadata }]);
          }
          assert.equal(outcomeOf(compilation), outcomeOf(whole(changing)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("the changes it reports, applied to what was before, give what is now", () => {
    fc.assert(
      fc.property(manifests, (resources) => {
        const growing = new MutableResourceSet();
        const compilation = new Compilation(growing, defaultCompileSettings);
        const objects = new Map(compilation.objects);
        for (const resource of all(resources)) {
          growing.set(resource);
          const { upserts, removes } = compilation.update([{ kind: resource.kind, ...resource.metadata }]);
          for (const [id, object] of upserts) objects.set(id, object);
          for (const id of removes) objects.delete(id);
        }
        assert.deepEqual(new Map([...objects].sort(byId)), new Map([...compilation.objects].sort(byId)));
      }),
      { numRuns: 100 },
    );
  });
});
