/** Documents with members that people name, called as what every object of JavaScript and every map has already. */
import { apiKey } from "./resource-documents.ts";

export const inheritedNames: readonly string[] = [
  "constructor",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "isPrototypeOf",
  "prototype",
  "size",
  "get",
  "__proto__",
  "__defineGetter__",
];

/** The kinds of places that such a name may stand in, and whether the API server takes it there. */
export function documentsWithName(name: string): readonly NamedDocument[] {
  // Not by a literal: __proto__ would be no member.
  const member = (value: unknown) => Object.fromEntries([[name, value]]);
  const body = { set: [{ field: name, value: member([member(1)]) }], remove: [`${name}s`] };
  // Keys of metadata and of conditions begin with a letter or digit; those of matchLabels nobody looks at.
  const isKey = !name.startsWith("_");
  const selector = {
    matchLabels: member("x"),
    matchExpressions: [{ key: isKey ? name : "x", operator: "Exists" }],
  };
  const namespaces = { from: "Selector", selector };
  const channel = { provider: "OpenAI" };
  const target = { name: "main", channelRef: { name: "main" } };
  return [
    { place: "metadata of a key", isTaken: isKey, document: apiKey({ metadata: member("x") }) },
    { place: "metadata of a key, a secret", isTaken: false, document: apiKey({ metadata: member("sk-abc") }) },
    { place: "metadata of a key, a number", isTaken: false, document: apiKey({ metadata: member(5) }) },
    { place: "models of a key", isTaken: true, document: apiKey({ models: { allow: [name, `${name}-*`] } }) },
    { place: "fields of a key", isTaken: false, document: apiKey(member("x")) },
    { place: "body of a channel", isTaken: true, document: own("Channel", { ...channel, body }) },
    {
      place: "selector of a channel",
      isTaken: true,
      document: own("Channel", { ...channel, allowedNamespaces: namespaces }),
    },
    {
      place: "parameters of a target",
      isTaken: true,
      document: own("ModelRoute", { targets: [{ ...target, parameters: body }] }),
    },
    {
      place: "selector of a route",
      isTaken: true,
      document: own("ModelRoute", { targets: [target], keySelector: { ...selector, namespaces } }),
    },
  ];
}

export interface NamedDocument {
  readonly place: string;
  readonly isTaken: boolean;
  readonly document: object;
}

function own(kind: string, spec: object): object {
  return { apiVersion: "tollgate.dev/v1alpha1", kind, metadata: { name: "main", namespace: "team-a" }, spec };
}
