/**
 * Arguments of a call that are no JSON object (cut off by the output cap, or broken): this format can only say objects,
 * so the text goes behind one member, by the name that the semantic digest of the recorded traffic has for it.
 */
export const rawArgumentsMember = "$raw";
