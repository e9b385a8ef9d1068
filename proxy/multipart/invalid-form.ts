/** The one refusal of a form that cannot be read, or that two programs could read in two ways. */
import { GatewayError } from "#proxy/errors";

/**
 * @param reason goes on from "The form is not valid: "; with nothing of the client's but the name of a part
 * @param name of the part at fault
 */
export function invalidForm(reason: string, name?: string): GatewayError {
  return new GatewayError(
    "invalid_form",
    `The form is not valid: ${reason}.`,
    name === undefined ? {} : { param: name },
  );
}
