/** Facts that a case of another gateway cannot keep here, each with its reason. */
export const knownCaseLosses: Readonly<Record<string, { readonly facts: readonly string[]; readonly reason: string }>> =
  {};
