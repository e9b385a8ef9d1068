/**
 * Writes a difference as the lines of one transaction: a single line when it is small, else begin, parts of at most 256
 * KiB, and commit. It is lazy, so that a large transaction costs the memory of one part and never blocks the event
 * loop.
 */
import type { IndexedSnapshot } from "#proxy/snapshot/build-index";
import type { Difference } from "#proxy/snapshot/diff";
import { partBytesMax } from "#proxy/snapshot/push/messages";
import type { ResourceVersions } from "#proxy/snapshot/push/resource-versions";

export interface TransactionContent {
  readonly epoch: number;
  /** Digest of the proxy's configuration before. */
  readonly base: string;
  readonly difference: Difference;
  /** The snapshot of the objects; its revision and digest are the transaction's. */
  readonly target: IndexedSnapshot;
  readonly versions: ResourceVersions;
  readonly removedUids: readonly string[];
  readonly uidOf: (id: string) => string | undefined;
}

interface Piece {
  readonly upserts: string;
  readonly removes: string;
}

/** @yields lines with their line feeds. */
export function* transactionLines(content: TransactionContent): Generator<string> {
  const { epoch, base, difference, target, versions, removedUids } = content;
  const { revision, digest } = target;
  const { buckets } = difference;
  const envelope = JSON.stringify({ epoch, revision, base, digest, buckets, versions, removedUids }).slice(1, -1);
  const pieces = cut(content, Buffer.byteLength(envelope));
  let piece = pieces.next();
  if (piece.done === true) return;
  const following = pieces.next();
  if (following.done === true) {
    yield `{"type":"transaction",${envelope},${members(piece.value)}}\n`;
    return;
  }
  yield `{"type":"begin",${envelope}}\n`;
  let parts = 0;
  yield `{"type":"part","revision":${revision},"index":${parts++},${members(piece.value)}}\n`;
  for (piece = following; piece.done !== true; piece = pieces.next()) {
    yield `{"type":"part","revision":${revision},"index":${parts++},${members(piece.value)}}\n`;
  }
  yield `{"type":"commit","revision":${revision},"parts":${parts}}\n`;
}

function members(piece: Piece): string {
  return `"upserts":[${piece.upserts}],"removes":[${piece.removes}]`;
}

/** Always yields at least one piece: an empty transaction carries its revision. */
function* cut({ difference, target, uidOf }: TransactionContent, envelopeBytes: number): Generator<Piece> {
  const { upserts, removes } = difference;
  let text = "";
  // A long envelope leaves a single line no room for much else.
  let bytes = envelopeBytes > partBytesMax ? partBytesMax : 0;
  for (const id of upserts) {
    const object = target.held(id)?.object;
    if (object === undefined) continue;
    const uid = uidOf(id);
    const tail = uid === undefined ? "}" : `,"uid":${JSON.stringify(uid)}}`;
    const item = `{"id":${JSON.stringify(id)},"object":${JSON.stringify(object)}${tail}`;
    const itemBytes = Buffer.byteLength(item) + 1;
    if (bytes > 0 && bytes + itemBytes > partBytesMax) {
      yield { upserts: text, removes: "" };
      text = "";
      bytes = 0;
    }
    text += text === "" ? item : `,${item}`;
    bytes += itemBytes;
  }
  let removed = "";
  for (const id of removes) {
    const item = JSON.stringify(id);
    if (bytes > 0 && bytes + item.length + 1 > partBytesMax) {
      yield { upserts: text, removes: removed };
      text = "";
      removed = "";
      bytes = 0;
    }
    removed += removed === "" ? item : `,${item}`;
    bytes += item.length + 1;
  }
  yield { upserts: text, removes: removed };
}
