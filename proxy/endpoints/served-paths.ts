/** Lists the paths of endpoints for people: in the text of `unknown_url` and on the reference page (PURE). */
import type { Endpoint, EndpointPath, Match } from "./endpoint.ts";

export interface ServedPath {
  readonly method: string;
  /** As the interface documents it. */
  readonly path: string;
  readonly otherSpellings: readonly string[];
}

/** Every method and path of an endpoint, in the order of its list. */
export function servedPaths({ paths }: Pick<Endpoint, "paths">): readonly ServedPath[] {
  return paths.flatMap(pathsOf);
}

/** `POST /a, /b and /c; GET /d`. */
export function describeServed(endpoints: readonly Pick<Endpoint, "paths">[]): string {
  const byMethod = Map.groupBy(endpoints.flatMap(servedPaths), ({ method }) => method);
  return [...byMethod].map(([method, paths]) => `${method} ${listed(paths.map(({ path }) => path))}`).join("; ");
}

function pathsOf(path: EndpointPath<Match>): ServedPath[] {
  switch (path.kind) {
    case "fixed":
      return [{ method: "POST", path: path.path, otherSpellings: path.otherSpellings }];
    case "socket":
      return [{ method: "GET", path: path.path, otherSpellings: path.otherSpellings }];
    case "verb":
      return [{ method: "POST", path: `/v1beta/models/{model}:${path.verb}`, otherSpellings: geminiSpellings }];
    case "item":
      return Object.keys(path.methods).map((method) => ({ method, path: path.path, otherSpellings: [] }));
    case "rest":
      return [{ method: path.methods.join(", "), path: path.path, otherSpellings: [] }];
    case "models":
      return ["/v1/models", "/v1/models/{model}"].map((name) => ({ method: "GET", path: name, otherSpellings: [] }));
    default:
      return path satisfies never;
  }
}

const geminiSpellings = ["/v1/models/...", "/v1alpha/models/..."];

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
