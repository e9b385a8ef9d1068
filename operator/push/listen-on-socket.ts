/** Listens on a Unix socket that only its owner can open, because the configuration sent on it holds upstream keys. */
import { once } from "node:events";
import { chmod, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { relative } from "node:path";

/** `sun_path` holds 108 bytes with its terminator. */
const pathBytesMax = 107;

/** The socket cannot be created; the message says what to do. */
export class SocketError extends Error {
  readonly code = "push_socket";
}

/**
 * @throws SocketError when the path is too long or another operator serves there.
 */
export async function listenOnSocket(server: Server, socketPath: string): Promise<void> {
  // The kernel counts the path as it is given: the shorter spelling may fit where the other does not.
  const fromHere = relative(process.cwd(), socketPath);
  const path = fromHere.length < socketPath.length ? fromHere : socketPath;
  if (Buffer.byteLength(path) > pathBytesMax) {
    throw new SocketError(
      `the path of the push socket has ${Buffer.byteLength(path)} bytes and at most ${pathBytesMax} are possible: ` +
        `choose a data folder with a shorter path than ${socketPath}`,
    );
  }
  try {
    await listen(server, path);
  } catch (cause) {
    if (!isAddressInUse(cause)) throw cause;
    if (await isServed(path)) {
      throw new SocketError(`another operator serves ${socketPath}: end it or choose another data folder`, { cause });
    }
    // Left behind by a process that was killed.
    await unlink(path);
    await listen(server, path);
  }
  await chmod(path, 0o600);
}

async function listen(server: Server, path: string): Promise<void> {
  // The mode must be right from the first moment, and only the umask of the process applies to bind().
  const mask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
  await once(server, "listening");
}

async function isServed(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    // Refused: no program listens.
    return false;
  } finally {
    socket.destroy();
  }
}

function isAddressInUse(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}
