import type { Refusal, Reservation } from "./admit/ledger.ts";
import { refusalToError } from "./admit/refusal-to-error.ts";
import type { Services } from "./services.ts";

/** Counts what the ledger decided. @throws GatewayError when it refused */
export function requireReserved(result: Reservation | Refusal, services: Services): Reservation {
  if (result.kind === "refused") {
    services.metrics.quotaDecision(result.reason);
    throw refusalToError(result, services.now());
  }
  services.metrics.quotaDecision("reserved");
  return result;
}
