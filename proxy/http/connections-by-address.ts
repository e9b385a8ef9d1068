/**
 * Counts the open connections of each client address, so that one stranger never holds them all
 * (docs/design/reliability.md F4).
 *
 * The count is checked once for each connection. A whole IPv6 /64 counts as one address, because every host has one of
 * its own. Trusted proxies are not counted: all their clients share their address. Where trusted proxies are
 * configured by hops alone, nobody knows which address is theirs, and none is counted.
 */
import { cidrsContain, compileCidrs } from "./address/cidr.ts";
import { type IpAddress, parseSocketAddress } from "./address/ip-address.ts";
import type { TrustedProxies } from "./client-address.ts";

export class ConnectionsByAddress {
  readonly #addressMax: number;
  readonly #trusted: TrustedProxies;
  readonly #byAddress = new Map<string, number>();

  /** @param addressMax `ProxyLimits.connectionsPerAddressMax` */
  constructor(addressMax: number, trusted: TrustedProxies) {
    this.#addressMax = addressMax;
    this.#trusted = trusted;
  }

  /** Addresses that have connections open. */
  get size(): number {
    return this.#byAddress.size;
  }

  /**
   * Counts a new connection.
   * @param socketAddress `socket.remoteAddress`
   * @returns what it counts under, to be given to `closed` once; undefined for one that counts nowhere; false when its
   *   address has as many as it may
   */
  opened(socketAddress: string | undefined): string | undefined | false {
    const place = this.#placeOf(parseSocketAddress(socketAddress));
    if (place === undefined) return undefined;
    const count = this.#byAddress.get(place) ?? 0;
    if (count >= this.#addressMax) return false;
    this.#byAddress.set(place, count + 1);
    return place;
  }

  closed(place: string): void {
    const left = (this.#byAddress.get(place) ?? 0) - 1;
    if (left > 0) this.#byAddress.set(place, left);
    else this.#byAddress.delete(place);
  }

  #placeOf(address: IpAddress | undefined): string | undefined {
    const { hops, cidrs } = this.#trusted;
    if (address === undefined) return undefined;
    if (cidrs.length > 0 ? cidrsContain(compileCidrs(cidrs), address) : hops > 0) return undefined;
    return address.family === 4 ? String(address.low) : `${address.high}:${address.highMiddle}`;
  }
}
