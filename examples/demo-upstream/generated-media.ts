/** The picture or the speech of a generateContent reply, where `responseModalities` asks for one. */
import { tuneOf } from "./audio/tune.ts";
import { bytesPerSample, sampleRate } from "./audio/wav.ts";
import { sizeOfAspect } from "./images/aspect-ratio.ts";
import { tokensOfPicture } from "./images/image-order.ts";
import { drawPicture } from "./images/picture.ts";
import { either, type JsonObject, list, text } from "./json-view.ts";

export interface GeneratedMedia {
  readonly parts: readonly { readonly inlineData: { readonly mimeType: string; readonly data: string } }[];
  /** What was made, as `candidatesTokensDetails` counts it. */
  readonly tokens: readonly { readonly modality: "IMAGE" | "AUDIO"; readonly tokenCount: number }[];
  /** Whether text goes before it. */
  readonly isTextWanted: boolean;
}

/** As Gemini's. */
const audioTokensPerSecond = 25;

/**
 * @param prompt what the picture shows, or what is said
 * @returns undefined where text alone is asked for
 * @throws BadRequest for proportions or a size of the picture that are not made here
 */
export function generateMedia(body: JsonObject, prompt: string): GeneratedMedia | undefined {
  const config = either(body, "generationConfig", "generation_config");
  const modalities = list(either(config, "responseModalities", "response_modalities")).map((name) =>
    text(name)?.toUpperCase(),
  );
  const isTextWanted = modalities.includes("TEXT");
  if (modalities.includes("IMAGE")) {
    const options = either(config, "imageConfig", "image_config");
    const size = sizeOfAspect(
      either(options, "aspectRatio", "aspect_ratio"),
      either(options, "imageSize", "image_size"),
    );
    const { mimeType, bytes } = drawPicture({ ...size, text: prompt, isTransparent: false }, "png");
    return {
      parts: [{ inlineData: { mimeType, data: bytes.toString("base64") } }],
      tokens: [{ modality: "IMAGE", tokenCount: tokensOfPicture(size) }],
      isTextWanted,
    };
  }
  if (modalities.includes("AUDIO")) {
    const pcm = tuneOf(prompt, 1);
    const seconds = pcm.length / (sampleRate * bytesPerSample);
    const data = pcm.toString("base64");
    return {
      parts: [{ inlineData: { mimeType: `audio/L16;codec=pcm;rate=${sampleRate}`, data } }],
      tokens: [{ modality: "AUDIO", tokenCount: Math.ceil(seconds * audioTokensPerSecond) }],
      isTextWanted,
    };
  }
  return undefined;
}
