/**
 * Checks the ports that settings name, before anything else is done, so that a port that cannot be opened is reported
 * at once with its setting. A port that another program takes in between is reported when it is opened. Called by the
 * commands.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { isNativeError } from "node:util/types";
import { parseAddress } from "#cli/settings/parse-value";
import type { Settings } from "#cli/settings/read-settings";

/** A port that a command will open. */
export interface WantedPort {
  /** The setting, as `Settings.source` gives it. */
  readonly source: string;
  readonly host: string;
  /** 0 uses a free port and is not tried. */
  readonly port: number;
}

/** The port of a setting with an address. */
export function wantedPort(settings: Settings, name: string): WantedPort {
  return { source: settings.source(name), ...parseAddress(settings.text(name)) };
}

/**
 * @param wanted ports of this process alone: a shared port would receive calls here that other processes could serve
 * @throws Error that names the setting and says what is wrong with the address and what to do
 */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  const held: { readonly port: WantedPort; readonly server: Server }[] = [];
  try {
    for (const port of wanted) {
      if (port.port === 0) continue;
      // A client that connects meanwhile is told to retry and is not waited for.
      const server = createServer((socket) => socket.destroy());
      try {
        server.listen({ host: port.host, port: port.port });
        await once(server, "listening");
      } catch (error) {
        const rival = held.find((other) => other.port.port === port.port)?.port.source;
        const where = `${port.host.includes(":") ? `[${port.host}]` : port.host}:${port.port}`;
        throw new Error(`${port.source} ${where} cannot be opened: ${reasonOf(error, port, rival)}`, { cause: error });
      }
      held.push({ port, server });
    }
  } finally {
    for (const { server } of held) await new Promise((resolve) => server.close(resolve));
  }
}

function reasonOf(error: unknown, { host, port }: WantedPort, rival: string | undefined): string {
  switch (isNativeError(error) && "code" in error ? error.code : undefined) {
    case "EADDRINUSE":
      return rival === undefined
        ? "another program listens there; end it or choose another port"
        : `${rival} uses that port; choose another`;
    case "EACCES":
      return `this user may not open port ${port}; choose one above 1023`;
    case "EADDRNOTAVAIL":
      return `this machine has no address ${host}; name one that it has, or 0.0.0.0 for all`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name ${host} has no address; name an address of this machine`;
    default:
      return isNativeError(error) ? error.message : String(error);
  }
}
