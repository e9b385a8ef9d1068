/**
 * The CRDs on a real API server: it takes them, enforces every rule with its message, and its verdict on thousands of
 * random objects is the offline validation's verdict.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { isJsonObject } from "#operator/schema/check-structure";
import { validateResource } from "#operator/schema/validate-resource";
import { projectRoot } from "#scripts/run";
import { counterpart, type Example, readExamples } from "#test/support/crd-examples";
import type { ApiReply, ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { documentsWithName, inheritedNames } from "#test/support/member-names";
import { mutateManifest, seededRandom } from "#test/support/mutate-manifest";

const plurals: { readonly [kind: string]: string } = {
  ApiKey: "apikeys",
  Channel: "channels",
  ModelRoute: "modelroutes",
  Account: "accounts",
};

describe("the custom resource definitions on a real API server", function () {
  this.timeout(120_000);
  let plane: ControlPlane;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    for (const file of readdirSync(join(projectRoot, "crds")).filter((name) => name.endsWith(".yaml"))) {
      const definition = parse(readFileSync(join(projectRoot, "crds", file), "utf8"));
      const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict";
      const reply = await plane.call("POST", path, definition);
      assert.equal(reply.status, 201, `${file}: ${messageOf(reply)}`);
    }
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } };
    assert.equal((await plane.call("POST", "/api/v1/namespaces", namespace)).status, 201);
    for (const plural of Object.values(plurals)) await untilServed(plane, plural);
  });

  after(async () => {
    await plane?.stop();
  });

  it("all four are established with accepted names and a sound schema", async () => {
    for (const plural of Object.values(plurals)) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.tollgate.dev`;
      const { body } = await plane.call("GET", path);
      const conditions = conditionsOf(body);
      assert.equal(conditions["Established"], "True");
      assert.equal(conditions["NamesAccepted"], "True");
      assert.notEqual(conditions["NonStructuralSchema"], "True");
    }
  });

  it("every valid example is accepted, with the defaults that the offline validation applies", async () => {
    for (const { file, document } of readExamples("valid")) {
      const reply = await create(plane, document.object);
      assert.equal(reply.status, 201, `${file}: ${messageOf(reply)}`);
      const { object } = validateResource(document.object);
      assert.ok(isJsonObject(reply.body));
      assert.deepEqual(object && "spec" in object ? object.spec : undefined, reply.body["spec"], file);
    }
  });

  it("every invalid example is refused for its rule", async () => {
    const valid = readExamples("valid");
    for (const example of readExamples("invalid")) {
      const reply = example.isChange
        ? await change(plane, counterpart(example, valid), example)
        : await create(plane, example.document.object);
      const message = messageOf(reply);
      assert.ok(reply.status === 400 || reply.status === 422, `${example.file} was answered ${reply.status}`);
      assert.ok(message.includes(example.expect), `${example.file}: ${message}`);
      assert.ok(message.includes(example.field), `${example.file}: ${message}`);
    }
  });

  it("server-side apply takes every valid example", async () => {
    for (const { file, document } of readExamples("valid")) {
      const path = `${pathOf(document.object)}/${nameOf(document.object)}?fieldManager=test&dryRun=All&force=true`;
      const reply = await plane.call("PATCH", path, document.object, "application/apply-patch+yaml");
      assert.ok(reply.status === 200 || reply.status === 201, `${file}: ${messageOf(reply)}`);
    }
  });

  for (const { name, object } of [
    { name: "a plain Secret", object: secret({ data: { a: "YQ==" }, stringData: { b: "x" } }) },
    { name: "base64 with line breaks", object: secret({ data: { a: "YWJj\nZGVm\r\n" } }) },
    { name: "base64 without padding", object: secret({ data: { a: "YQ" } }) },
    { name: "base64 with spaces", object: secret({ data: { a: "YQ ==" } }) },
    { name: "the other base64 alphabet", object: secret({ data: { a: "_-8=" } }) },
    { name: "empty data", object: secret({ data: { a: "" } }) },
    { name: "null entries", object: secret({ data: null, stringData: null }) },
    { name: "a number as an entry", object: secret({ stringData: { a: 5 } }) },
    { name: "an entry with a slash", object: secret({ stringData: { "a/b": "x" } }) },
    { name: "an entry of two dots", object: secret({ stringData: { "..": "x" } }) },
    { name: "an entry beginning with two dots", object: secret({ stringData: { "..a": "x" } }) },
    { name: "an unknown member", object: secret({ string_data: {} }) },
    {
      name: "a TLS Secret without its key",
      object: secret({ type: "kubernetes.io/tls", stringData: { "tls.crt": "x" } }),
    },
    { name: "a Secret beyond 1 MiB", object: secret({ stringData: { a: "x".repeat(1_048_577) } }) },
    { name: "a Secret of 1 MiB", object: secret({ stringData: { a: "x".repeat(1_048_576) } }) },
    { name: "a ConfigMap", object: configMap({ data: { a: "x" }, binaryData: { b: "AA==" } }) },
    { name: "a ConfigMap with an entry twice", object: configMap({ data: { a: "x" }, binaryData: { a: "AA==" } }) },
    { name: "labels in order", object: configMap({}, { labels: { "example.com/a": "b_c.d-e", f: "" } }) },
    { name: "a label value that is too long", object: configMap({}, { labels: { a: "b".repeat(64) } }) },
    { name: "a label value with a space", object: configMap({}, { labels: { a: "b c" } }) },
    { name: "a label key in capitals", object: configMap({}, { labels: { "Example.com/a": "b" } }) },
    { name: "an annotation key in capitals", object: configMap({}, { annotations: { "Example.com/A": "b" } }) },
    { name: "a label key that ends in a slash", object: configMap({}, { labels: { "a/": "b" } }) },
    { name: "annotations beyond 256 KiB", object: configMap({}, { annotations: { a: "b".repeat(262_144) } }) },
    { name: "annotations of 256 KiB", object: configMap({}, { annotations: { a: "b".repeat(262_143) } }) },
    { name: "a name with an underscore", object: configMap({}, { name: "a_b" }) },
    { name: "a name that ends in a dot", object: configMap({}, { name: "a." }) },
    { name: "a name of 253 characters", object: configMap({}, { name: "a".repeat(253) }) },
    { name: "a name of 254 characters", object: configMap({}, { name: "a".repeat(254) }) },
    { name: "an unknown member of metadata", object: configMap({}, { label: {} }) },
    { name: "a label that is null", object: configMap({}, { labels: { a: null } }) },
  ]) {
    it(`agrees with the offline validation on ${name}`, async () => {
      const plural = object.kind === "Secret" ? "secrets" : "configmaps";
      const path = `/api/v1/namespaces/team-a/${plural}?dryRun=All&fieldValidation=Strict`;
      const reply = await plane.call("POST", path, object);
      const { problems } = validateResource(object);
      assert.equal(problems.length === 0, reply.status === 201, `${messageOf(reply)} ${JSON.stringify(problems)}`);
    });
  }

  for (const name of inheritedNames) {
    it(`agrees with the offline validation on members named ${name}`, async () => {
      for (const { place, isTaken, document } of documentsWithName(name)) {
        const reply = await create(plane, document);
        assert.equal(reply.status === 201, isTaken, `${place}: ${messageOf(reply)}`);
        assert.equal(validateResource(document).problems.length === 0, isTaken, place);
      }
    });
  }

  it("agrees with the offline validation on random objects", async () => {
    const random = seededRandom(20_261);
    const examples = readExamples("valid");
    let refused = 0;
    for (let round = 0; round < 1_500; round += 1) {
      const example = examples[Math.floor(random() * examples.length)];
      assert.ok(example);
      const mutated = mutateManifest(example.document.object, random);
      assert.ok(isJsonObject(mutated));
      const object = { ...mutated, metadata: { name: "random", namespace: "team-a" } };
      const offline = validateResource(object);
      const reply = await create(plane, object);
      const isTaken = reply.status === 201;
      if (!isTaken) refused += 1;
      const verdict = `API server: ${messageOf(reply)}\noffline: ${JSON.stringify(offline.problems)}`;
      assert.equal(offline.problems.length === 0, isTaken, `${JSON.stringify(object)}\n${verdict}`);
    }
    assert.ok(refused > 500 && refused < 1_450, `the mutations are one-sided: ${refused} of 1500 refused`);
  });
});

function secret(members: object): { readonly kind: string } {
  return { ...{ apiVersion: "v1", metadata: { name: "s", namespace: "team-a" } }, kind: "Secret", ...members };
}

function configMap(members: object, metadata: object = {}): { readonly kind: string } {
  return {
    ...{ apiVersion: "v1", metadata: { name: "c", namespace: "team-a", ...metadata } },
    kind: "ConfigMap",
    ...members,
  };
}

async function untilServed(plane: ControlPlane, plural: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const { status } = await plane.call("GET", `/apis/tollgate.dev/v1alpha1/namespaces/team-a/${plural}`);
    if (status === 200) return;
    assert.ok(performance.now() < deadline, `${plural} are not served: ${status}`);
  }
}

function create(plane: ControlPlane, object: unknown): Promise<ApiReply> {
  return plane.call("POST", `${pathOf(object)}?dryRun=All&fieldValidation=Strict`, object);
}

/** Stores the version before, then tries to replace it. */
async function change(plane: ControlPlane, before: Example, after: Example): Promise<ApiReply> {
  const stored = await plane.call("POST", pathOf(before.document.object), before.document.object);
  assert.ok(isJsonObject(stored.body) && isJsonObject(after.document.object));
  const object = { ...after.document.object, metadata: stored.body["metadata"] };
  return plane.call("PUT", `${pathOf(object)}/${nameOf(object)}?dryRun=All`, object);
}

function pathOf(object: unknown): string {
  assert.ok(isJsonObject(object));
  return `/apis/tollgate.dev/v1alpha1/namespaces/team-a/${plurals[String(object["kind"])]}`;
}

function nameOf(object: unknown): string {
  assert.ok(isJsonObject(object) && isJsonObject(object["metadata"]));
  return String(object["metadata"]["name"]);
}

function messageOf({ body }: ApiReply): string {
  return isJsonObject(body) && typeof body["message"] === "string" ? body["message"] : "";
}

function conditionsOf(definition: unknown): { [type: string]: string } {
  assert.ok(isJsonObject(definition) && isJsonObject(definition["status"]));
  const { conditions } = definition["status"];
  assert.ok(Array.isArray(conditions));
  return Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
}
