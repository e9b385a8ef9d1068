/** Checks the address restriction of a key, from the head alone and before any body is read. */
import { GatewayError } from "#proxy/errors";
import { cidrsContain, compileCidrs } from "#proxy/http/address/cidr";
import type { IpAddress } from "#proxy/http/address/ip-address";
import type { Key } from "#proxy/snapshot/types.gen";

/**
 * Deny goes over allow. A list that is absent restricts nothing; an allow list that is empty allows nobody. Without
 * a known address no key with address rules opens.
 */
export function isAddressAllowed(key: Key, address: IpAddress | undefined): boolean {
  const { cidrsAllow, cidrsDeny } = key;
  if (cidrsAllow === undefined && (cidrsDeny === undefined || cidrsDeny.length === 0)) return true;
  if (address === undefined) return false;
  if (cidrsDeny !== undefined && cidrsContain(compileCidrs(cidrsDeny), address)) return false;
  return cidrsAllow === undefined || cidrsContain(compileCidrs(cidrsAllow), address);
}

/** @throws GatewayError `ip_not_allowed` */
export function authorizeAddress(key: Key, address: IpAddress | undefined): void {
  if (isAddressAllowed(key, address)) return;
  throw new GatewayError("ip_not_allowed", "This API key may not be used from this network address.");
}
