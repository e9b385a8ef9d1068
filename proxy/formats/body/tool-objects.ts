/**
 * Finds members of provider-run tools that refer to objects of the upstream account, for all OpenAI-style formats:
 * servers accept such tools in chat completions as well.
 */
import { pathPattern } from "./member-paths.ts";

/** Where tools are declared: by the call, inside a namespace of tools, by an item of the conversation. */
const places = ["tools.*", "tools.*.tools.*", "input.*.tools.*"];

export const toolObjects = places.flatMap((place) => [
  pathPattern(`${place}.vector_store_ids`, "array"),
  pathPattern(`${place}.container`, "string"),
  pathPattern(`${place}.container.file_ids`, "array"),
  pathPattern(`${place}.connector_id`, "string"),
  pathPattern(`${place}.tunnel_id`, "string"),
  pathPattern(`${place}.input_image_mask.file_id`, "string"),
  pathPattern(`${place}.environment.container_id`, "string"),
  pathPattern(`${place}.environment.file_ids`, "array"),
  pathPattern(`${place}.environment.skills.*.skill_id`, "string"),
]);
