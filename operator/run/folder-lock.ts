/** Locks a data folder for one operator: two operators would overwrite each other's status and Secrets. */
import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { listenOnSocket } from "#operator/push/listen-on-socket";

/**
 * Holds the lock until `started` is disposed of or the process ends, in whichever way.
 *
 * @param lockSocket Unix socket that belongs to the folder
 * @throws SocketError when another operator holds it
 */
export async function lockFolder(started: AsyncDisposableStack, lockSocket: string): Promise<void> {
  await mkdir(dirname(lockSocket), { recursive: true, mode: 0o700 });
  const server = createServer((socket) => socket.destroy());
  await listenOnSocket(server, lockSocket);
  started.defer(() => new Promise<void>((resolve) => void server.close(() => resolve())));
}
