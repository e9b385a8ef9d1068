/**
 * Says what a preset is: the defaults that a channel has from the provider, vendor or server that it names
 * (docs/design/configuration.md 2.2). Each is a file of `operator/presets/`, with a list of all in docs/how-to/providers.md.
 */
import type { PresetName, Provider } from "#operator/resources/types.gen";
import type { Channel } from "#proxy/snapshot/types.gen";

/** A format and where it is: a path below the base URL, with `{model}`, `{verb}` and `{apiVersion}` to be filled in. */
export type PresetFormat = Channel["formats"][number];

export interface Preset {
  /** What the gateway treats the upstream as. */
  readonly provider: Provider;
  /** Undefined where everyone has another address. */
  readonly baseURL?: string;
  readonly auth: Channel["auth"];
  /** Whose deviations from other upstreams of the provider proxies allow for. */
  readonly quirks?: NonNullable<Channel["quirks"]>;
  /** Whether a channel without any credential is of no use. */
  readonly needsCredential: boolean;
  /** What a channel speaks that lists no formats. */
  readonly formats: readonly PresetFormat[];
  /** Paths of formats that it speaks only where the channel lists them. */
  readonly otherFormats: readonly PresetFormat[];
  /** Other presets of the same vendor, by the provider that a channel gives beside this one. */
  readonly variants?: { readonly [provider in Provider]?: PresetName };
}
