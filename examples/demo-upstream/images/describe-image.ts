/** Says which image was sent, as far as its first bytes tell: `64x32 PNG`, or its type and size. */
export function describeImage(bytes: Buffer, contentType: string | undefined): string {
  // The signature, and the header that is always first (https://www.w3.org/TR/png-3/ 5.2 and 5.6).
  if (bytes.length >= 24 && bytes.toString("latin1", 1, 4) === "PNG" && bytes.toString("latin1", 12, 16) === "IHDR")
    return `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)} PNG`;
  if (bytes.length >= 10 && bytes.toString("latin1", 0, 3) === "GIF")
    return `${bytes.readUInt16LE(6)}x${bytes.readUInt16LE(8)} GIF`;
  return `${bytes.length} bytes of ${contentType ?? "unknown type"}`;
}
