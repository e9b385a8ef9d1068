/**
 * Wraps arguments of a call that are not a JSON object (cut off by the output cap, or broken): this format can only
 * hold objects, so the text becomes the value of one member, by the name that the semantic digest of the recorded
 * traffic has for it.
 */
export const rawArgumentsMember = "$raw";
