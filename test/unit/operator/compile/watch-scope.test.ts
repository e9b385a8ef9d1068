import assert from "node:assert/strict";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import type { WatchScope } from "#operator/compile/watch-scope";
import { everyObject } from "#operator/resources/mutable-resource-set";
import { resourcesOf } from "#test/support/compile-manifests";

const object = (kind: string, namespace: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: "tollgate.dev/v1alpha1", kind, metadata: { namespace, name }, spec });
const channel = (allowedNamespaces: object = {}) =>
  object("Channel", "team-a", "echo", {
    provider: "OpenAICompatible",
    baseURL: "https://models.example/v1",
    allowedNamespaces,
  });
const route = (spec: object = {}) =>
  object("ModelRoute", "team-c", "m", {
    targets: [{ name: "x", channelRef: { name: "echo", namespace: "team-a" } }],
    ...spec,
  });
const team = (labels: object) =>
  JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-c", labels } });
const byLabel = (selector: object) => ({ from: "Selector", selector });
const gold = byLabel({ matchLabels: { tier: "gold" } });
const callers = (namespaces: object) => route({ keySelector: { namespaces } });

describe("what an operator is not let to see", () => {
  for (const row of [
    {
      name: "a channel of a namespace that is not watched may well exist",
      manifests: [route()],
      reach: { watchNamespaces: ["team-c"], readsNamespaces: true },
      want: /^False ChannelNotFound: .*team-a\/echo is in a namespace that this operator does not watch; add team-a to operator.watchNamespaces/,
    },
    {
      name: "one of a watched namespace does not",
      manifests: [route()],
      reach: { watchNamespaces: ["team-a", "team-c"], readsNamespaces: true },
      want: /^False ChannelNotFound: .*team-a\/echo does not exist; create it/,
    },
    {
      name: "labels that a channel goes by, where Namespaces are not read",
      manifests: [channel(gold), route()],
      reach: { watchNamespaces: [], readsNamespaces: false },
      want: /^False NotAllowed: .*labels, which this operator does not read: switch operator.namespaceSelectors on/,
    },
    {
      name: "labels that a channel wants absent are not known to be",
      manifests: [channel(byLabel({ matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] })), route()],
      reach: { watchNamespaces: [], readsNamespaces: false },
      want: /^False NotAllowed: .*switch operator.namespaceSelectors on/,
    },
    {
      name: "a name needs no label that would have to be read",
      manifests: [channel(byLabel({ matchLabels: { "kubernetes.io/metadata.name": "team-c" } })), route()],
      reach: { watchNamespaces: [], readsNamespaces: false },
      want: /^True Resolved/,
    },
    {
      name: "where they are read, a label that is missing is to be set",
      manifests: [channel(gold), route(), team({ tier: "iron" })],
      want: /^False NotAllowed: .*does not admit namespace team-c; label the namespace as its spec.allowedNamespaces.selector asks/,
    },
    ...[{ operator: "DoesNotExist" }, { operator: "NotIn", values: ["iron"] }].flatMap((rule) => [
      {
        name: `a namespace that is not known yet is not one of those whose label ${rule.operator}`,
        manifests: [channel(byLabel({ matchExpressions: [{ key: "tier", ...rule }] })), route()],
        want: /^False NotAllowed: .*does not admit namespace team-c, whose labels are not known: create the Namespace/,
      },
      {
        name: `one that is known to bear no such label is (${rule.operator})`,
        manifests: [channel(byLabel({ matchExpressions: [{ key: "tier", ...rule }] })), route(), team({})],
        want: /^True Resolved/,
      },
    ]),
    {
      name: "every namespace is one of those that an empty selector takes, known or not",
      manifests: [channel(byLabel({})), route()],
      want: /^True Resolved/,
    },
    {
      name: "a channel without a selector is what has to change",
      manifests: [channel(), route()],
      want: /^False NotAllowed: .*add it to its spec.allowedNamespaces/,
    },
    {
      name: "namespaces whose keys may call, where Namespaces are not read",
      manifests: [channel({ from: "All" }), callers(gold)],
      reach: { watchNamespaces: [], readsNamespaces: false },
      want: /^False NotAllowed: spec.keySelector.namespaces .*no key may call the route: switch operator.namespaceSelectors on/,
    },
    {
      name: "the same where they are read",
      manifests: [channel({ from: "All" }), callers(gold), team({ tier: "gold" })],
      want: /^True Resolved/,
    },
    {
      name: "all namespaces need no labels",
      manifests: [channel({ from: "All" }), callers({ from: "All" })],
      reach: { watchNamespaces: [], readsNamespaces: false },
      want: /^True Resolved/,
    },
  ] satisfies { name: string; manifests: string[]; reach?: WatchScope; want: RegExp }[]) {
    it(row.name, () => {
      const resources = resourcesOf(row.manifests.join("\n---\n"));
      const compilation = new Compilation(resources, defaultCompileSettings, "Exact", true, row.reach);
      compilation.update(everyObject(resources));
      const { status, reason, message } = compilation.results.get("route/team-c/m")?.resolvedRefs ?? assert.fail();
      assert.match(`${status} ${reason}: ${message}`, row.want);
    });
  }
});
