/**
 * Tells whether a path is one that a channel names for passing on (PURE).
 *
 * A name in braces stands for one piece of a path without a slash, an escape or a colon: `/files/{id}/content` opens the
 * content of every file and nothing beside it, and `/models/{model}:embed` no other verb.
 */
const piece = "[A-Za-z0-9_][A-Za-z0-9._~-]{0,255}";

const compiled = new Map<string, RegExp>();
/** Far more than the channels of an installation name; templates of channels that are gone must not pile up. */
const compiledMax = 10_000;

/** @param template a path of `spec.formats[].paths` @param path as received: plain, beginning with a slash */
export function allowsPath(template: string, path: string): boolean {
  if (!template.includes("{")) return template === path;
  let pattern = compiled.get(template);
  if (pattern === undefined) {
    if (compiled.size >= compiledMax) compiled.clear();
    pattern = patternOf(template);
    compiled.set(template, pattern);
  }
  return pattern.test(path);
}

function patternOf(template: string): RegExp {
  const parts = template.split(/\{\w{1,64}\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(piece)}$`);
}
