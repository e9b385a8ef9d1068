/**
 * Returns all raw values of a query parameter; its name must be unescaped (`key[]` and `%6bey` are other names).
 * Values are not decoded.
 */
export function queryValues(rawUrl: string, name: string): string[] {
  const from = rawUrl.indexOf("?");
  if (from < 0) return [];
  const values: string[] = [];
  for (const pair of rawUrl.slice(from + 1).split("&")) {
    const equals = pair.indexOf("=");
    if ((equals < 0 ? pair : pair.slice(0, equals)) !== name) continue;
    values.push(equals < 0 ? "" : pair.slice(equals + 1));
  }
  return values;
}
