/** Reads the parameters of a header value, `; name=value; name="value"`, where each may stand once. */

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`[ \\t]*;[ \\t]*(${token})=(?:"([^"]*)"|(${token}))`, "y");
/** Control characters; a quote that one reader takes for the end of the value and another for a part of it. */
const ambiguous = /[\x00-\x1f\x7f]|\\$/;

/**
 * Backslashes are kept as they are, since some clients escape with them and some write Windows paths; one in front of a
 * quote is refused.
 *
 * @param text of the header behind its first word
 * @returns values by name in lower case; undefined where it is no such list, or names something twice
 */
export function readParameters(text: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>();
  parameter.lastIndex = 0;
  let end = 0;
  for (let match = parameter.exec(text); match !== null; match = parameter.exec(text)) {
    const name = (match[1] ?? "").toLowerCase();
    const value = match[2] ?? match[3] ?? "";
    if (parameters.has(name) || ambiguous.test(value)) return undefined;
    parameters.set(name, value);
    end = parameter.lastIndex;
  }
  return text.slice(end).trim() === "" ? parameters : undefined;
}
