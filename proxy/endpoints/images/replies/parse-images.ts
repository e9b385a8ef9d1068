/**
 * Parses a reply without the bytes of its pictures: megabytes of base64 that nobody here looks at would be copied twice for
 * the few members that stand around them.
 */
import { parseJson } from "#proxy/json/json-value";

const memberName = Buffer.from('"b64_json"');
const [quote, colon, space] = [0x22, 0x3a, 0x20];
/** Shorter values are parsed as they are. */
const keptCharacters = 64;

/** @returns the reply with only the first characters of each long picture; undefined for what is no JSON */
export function parseImages(body: Buffer): unknown {
  const pieces: string[] = [];
  let from = 0;
  for (let at = body.indexOf(memberName); at >= 0; at = body.indexOf(memberName, at + memberName.length)) {
    const start = startOfText(body, at + memberName.length);
    const end = start < 0 ? -1 : body.indexOf(quote, start);
    if (end - start <= keptCharacters) continue;
    pieces.push(body.toString("utf8", from, start + keptCharacters));
    from = end;
  }
  if (pieces.length === 0) return parseJson(body.toString("utf8"));
  pieces.push(body.toString("utf8", from));
  // Where a picture was no base64, its text may have ended elsewhere.
  return parseJson(pieces.join("")) ?? parseJson(body.toString("utf8"));
}

/** Offset behind the opening quote of a member's value; -1 where it is no text, or the name is no name. */
function startOfText(body: Buffer, afterName: number): number {
  let at = skipBlanks(body, afterName);
  if (body[at] !== colon) return -1;
  at = skipBlanks(body, at + 1);
  return body[at] === quote ? at + 1 : -1;
}

function skipBlanks(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && (body[at] ?? 0) <= space) at += 1;
  return at;
}
