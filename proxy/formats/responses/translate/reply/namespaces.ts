/** Restores the namespaces of tool names in a reply (docs/design/translation.md 5.1). */

import type { ClientRunTool } from "#proxy/formats/responses/translate/client-run/client-run-tools";
import { clientRunTools, offeredTools } from "#proxy/formats/responses/translate/client-run/tool-lists";
import { namespacedName } from "#proxy/formats/responses/translate/request/read/read-tools";
import { asList, asText, type JsonObject, member } from "#proxy/json/json-value";

export interface ClientName {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** The call goes back as an item of this tool's own. */
  readonly run?: ClientRunTool | undefined;
}

/** @returns the client's name for the flat one under which the tool was offered */
export function clientNames(body: JsonObject): (name: string) => ClientName {
  const known = new Map<string, ClientName>();
  for (const [name, run] of clientRunTools(body)) known.set(name, { name, run });
  for (const tool of offeredTools(body)) {
    if (member(tool, "type") !== "namespace") continue;
    const namespace = asText(member(tool, "name"));
    for (const inner of asList(member(tool, "tools"))) {
      const name = asText(member(inner, "name"));
      known.set(namespacedName(namespace, name), { name, namespace });
    }
  }
  return (name) => known.get(name) ?? { name };
}
