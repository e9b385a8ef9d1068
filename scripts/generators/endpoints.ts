/**
 * What follows from the list of endpoints (`proxy/endpoints/endpoints.ts`): its reference page, and what the operator
 * takes for served.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Endpoint } from "#proxy/endpoints/endpoint";
import { endpoints } from "#proxy/endpoints/endpoints";
import { servedForms, type UpstreamForm } from "#proxy/endpoints/served-forms";
import { servedPaths } from "#proxy/endpoints/served-paths";
import { projectRoot } from "#scripts/run";
import type { GeneratedFile } from "./generated-file.ts";

const servedFormats = sorted(endpoints.flatMap(({ channelFormats }) => channelFormats));
const servedCapabilities = sorted(endpoints.map(({ capability }) => capability));

export async function generateEndpointPage(): Promise<readonly GeneratedFile[]> {
  const lines = [
    "# Endpoints",
    "",
    "<!-- Generated from proxy/endpoints/endpoints.ts by `npm run generate`; do not edit. -->",
    "",
    "Everything that the data port serves. Another path is answered with 404 `unknown_url`, another method with 405. Keys and",
    "routes allow an endpoint by its capability; a channel serves it where its `spec.formats` has one of the formats named",
    "here, or, for chat, another chat format: the gateway translates.",
    "",
    "| Endpoint | Served at | Capability | Formats of channels |",
    "| --- | --- | --- | --- |",
    ...endpoints.map(rowOf),
    "",
    "`{model}` may be any public name or alias of a route. Paths of clients with another base address are taken too:",
    "",
    "| Documented | Taken as well |",
    "| --- | --- |",
    ...endpoints.flatMap(spellingsOf),
    "",
    "## Forms of upstreams",
    "",
    "Where an upstream speaks the client's form, the bytes of both sides pass with few edits. Elsewhere call and reply are",
    "converted, and what cannot be said in the other form is named in `x-tollgate-dropped` or refused.",
    "",
    "| Endpoint | Form of the client | Natively | Converted |",
    "| --- | --- | --- | --- |",
    ...endpoints.flatMap(formRowsOf),
    "",
    "Which formats a channel speaks its `spec.formats` says, and whose shape of one its `spec.formats[].dialect`, or its preset",
    "does both ([providers](how-to/providers.md)).",
    "",
    ...unservedSection(),
  ];
  return [{ path: join(projectRoot, "docs", "endpoints.md"), content: lines.join("\n") }];
}

/** What the schema of the resources is ahead of the endpoints; nothing where all of it is served. */
function unservedSection(): string[] {
  const capabilities = unserved("model-routes.yaml", "capabilities", servedCapabilities);
  const formats = unserved("channels.yaml", "formats", servedFormats);
  if (capabilities.length + formats.length === 0) return [];
  return [
    "## Not there yet",
    "",
    "The resources accept these names; an object that uses one says in its condition `Accepted` that no endpoint serves it.",
    "",
    ...(capabilities.length === 0 ? [] : [`- Capabilities: ${names(capabilities)}.`]),
    ...(formats.length === 0 ? [] : [`- Formats of channels: ${names(formats)}.`]),
    "",
  ];
}

/** The operator knows nothing of the proxy's code, so that what is served is written down for it. */
export async function generateServedNames(): Promise<readonly GeneratedFile[]> {
  const content = `/** Generated from proxy/endpoints/endpoints.ts by \`npm run generate\`; do not edit. */

/** Formats of a channel that an endpoint uses. */
export const servedFormats: ReadonlySet<string> = new Set([${quoted(servedFormats)}]);

/** Capabilities that an endpoint has. */
export const servedCapabilities: ReadonlySet<string> = new Set([${quoted(servedCapabilities)}]);
`;
  return [{ path: join(projectRoot, "operator", "compile", "served.gen.ts"), content }];
}

function rowOf(endpoint: Endpoint): string {
  const paths = servedPaths(endpoint).map(({ method, path }) => `\`${method} ${path}\``);
  const formats = endpoint.channelFormats.length === 0 ? "none is asked" : endpoint.channelFormats.join(", ");
  return `| ${endpoint.name} | ${paths.join("<br>")} | ${endpoint.capability} | ${formats} |`;
}

function formRowsOf(endpoint: Endpoint): string[] {
  return servedForms(endpoint).map(({ client, native, converted }) => {
    return `| ${endpoint.name} | ${client} | ${formsNamed(native)} | ${formsNamed(converted)} |`;
  });
}

function formsNamed(forms: readonly UpstreamForm[]): string {
  const named = forms.map(({ format, dialect }) => (dialect === undefined ? format : `${format} of ${dialect}`));
  return named.length === 0 ? "-" : named.join(", ");
}

function spellingsOf(endpoint: Endpoint): string[] {
  return servedPaths(endpoint)
    .filter(({ otherSpellings }) => otherSpellings.length > 0)
    .map(({ path, otherSpellings }) => `| \`${path}\` | ${otherSpellings.map((name) => `\`${name}\``).join(", ")} |`);
}

/** Names of a list's enum that the schema has and nothing serves. @param file in `crds/` */
function unserved(file: string, field: "capabilities" | "formats", served: readonly string[]): string[] {
  const { spec } = parse(readFileSync(join(projectRoot, "crds", file), "utf8"));
  const { items } = spec.versions[0].schema.openAPIV3Schema.properties.spec.properties[field];
  const all: readonly string[] = items.enum ?? items.properties.type.enum;
  return all.filter((name) => !served.includes(name));
}

function sorted(all: readonly string[]): string[] {
  return [...new Set(all)].sort();
}

function quoted(all: readonly string[]): string {
  return all.map((name) => JSON.stringify(name)).join(", ");
}

function names(all: readonly string[]): string {
  return all.map((name) => `\`${name}\``).join(", ");
}
