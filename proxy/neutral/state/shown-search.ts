/**
 * Marks the ids that this gateway itself puts into a response, to show a search that an upstream of another format ran.
 * No provider knows them: when they come back they are read as shown by the gateway, and removed before the client's
 * own provider is called.
 */
export const shownSearchMarks = { Responses: "ws_tg1", Messages: "srvtoolu_tg1" } as const;

/** @param id of an item or block that a client brought back */
export function isShownSearch(format: keyof typeof shownSearchMarks, id: unknown): boolean {
  return typeof id === "string" && id.startsWith(shownSearchMarks[format]);
}
