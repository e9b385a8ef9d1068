/** Defines the endpoints that write down a recording: `/v1/audio/transcriptions`, and in English `/v1/audio/translations`. */
import { estimateUnits } from "#proxy/admit/estimate-units";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import { UnitSettlement } from "#proxy/dispatch/reservations/settle-units";
import { eventWriter, wholeWriter } from "#proxy/endpoints/dialects/open-ai-writer";
import { serveDialects } from "#proxy/endpoints/dialects/serve-dialects";
import type { FormEndpoint } from "#proxy/endpoints/endpoint";
import { openAIPath } from "#proxy/endpoints/open-ai-path";
import type { CallPath } from "#proxy/neutral/wire";
import { checkMemberRules } from "#proxy/parameters/member-rules";
import { readTranscript, repeatedTranscriptParts, type TranscriptCall } from "./read-transcript.ts";
import { TranscriptCounter, transcriptNeeds } from "./transcript-counter.ts";
import { transcriptDialects } from "./transcript-dialects.ts";
import { typeOfTranscript } from "./transcript-formats.ts";

export const transcriptions = transcriptEndpoint("transcriptions", "Transcriptions", "Transcription");
export const translations = transcriptEndpoint("translations", "Translations", "Translation");

function transcriptEndpoint(
  name: "transcriptions" | "translations",
  format: "Transcriptions" | "Translations",
  capability: "Transcription" | "Translation",
): FormEndpoint<CallPath, TranscriptCall> {
  return {
    name,
    capability,
    channelFormats: [format],
    body: "form",
    repeatedParts: repeatedTranscriptParts,
    paths: [openAIPath(`/v1/audio/${name}`, { protocol: "OpenAI", format, capability })],
    metricFormat: (match) => match.format,
    readForm: readTranscript,
    checkParameters: ({ body }, route) => checkMemberRules(body, route),
    need: async ({ call, route, snapshot }) => ({
      amounts: estimateUnits(await transcriptNeeds(call, route.price, snapshot.fleet), route.price),
    }),
    settlement: (context: SettlementContext<TranscriptCall>) =>
      new UnitSettlement(context, new TranscriptCounter(context)),
    serve: (admitted) => {
      const { call, services } = admitted;
      const writer = call.stream ? eventWriter : wholeWriter(typeOfTranscript(call.format));
      return serveDialects(admitted, transcriptDialects(services.limits.eventBytesMax), writer);
    },
  };
}
