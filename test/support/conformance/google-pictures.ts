/** Replies of Google's models that make pictures. */

/** Of generateContent, with one picture. */
export function content(base64: string, members: object = {}): string {
  const parts = [
    { text: "Here it is." },
    { inlineData: { mimeType: "image/png", data: "ZHJhZnQ=" }, thought: true },
    { inlineData: { mimeType: "image/png", data: base64 } },
  ];
  return JSON.stringify({
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: 10,
      candidatesTokenCount: 1_300,
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1_290 }],
      totalTokenCount: 1_310,
    },
    ...members,
  });
}

/** Of generateContent, without one. */
export function refused(finishReason: string): string {
  return JSON.stringify({ candidates: [{ finishReason, content: {} }], usageMetadata: { promptTokenCount: 10 } });
}

/** Of Imagen. @param first number of the first picture */
export function predictions(count: number, first = 0): string {
  const all = Array.from({ length: count }, (_, index) => ({
    bytesBase64Encoded: `cGlj${first + index}A==`,
    mimeType: "image/png",
  }));
  return JSON.stringify({ predictions: all });
}
