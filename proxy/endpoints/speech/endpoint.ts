/** Defines the endpoint that speaks a text: `/v1/audio/speech`. */
import { estimateUnits } from "#proxy/admit/estimate-units";
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import { UnitSettlement } from "#proxy/dispatch/reservations/settle-units";
import type { Dialects } from "#proxy/endpoints/dialects/dialect";
import { bytesWriter, eventWriter } from "#proxy/endpoints/dialects/open-ai-writer";
import { serveDialects } from "#proxy/endpoints/dialects/serve-dialects";
import type { CallEndpoint } from "#proxy/endpoints/endpoint";
import type { CallPath } from "#proxy/neutral/wire";
import { checkMemberRules } from "#proxy/parameters/member-rules";
import { geminiSpeech } from "./gemini-dialect.ts";
import { openAISpeech } from "./open-ai-dialect.ts";
import { readSpeech, type SpeechCall } from "./read-speech.ts";
import { typeOfFormat } from "./sound-types.ts";
import { isLengthPriced, SpeechCounter, speechNeeds } from "./speech-counter.ts";

const channelFormats = ["Speech", "GenerateContent"] as const;

export const speech: CallEndpoint<CallPath, SpeechCall> = {
  name: "speech",
  capability: "Speech",
  channelFormats,
  body: "json",
  paths: [
    {
      kind: "fixed",
      path: "/v1/audio/speech",
      otherSpellings: ["/audio/speech", "/v1/v1/audio/speech"],
      match: { protocol: "OpenAI", format: "Speech", capability: "Speech" },
    },
  ],
  metricFormat: ({ format }) => format,
  read: readSpeech,
  checkParameters: ({ body }, route) => checkMemberRules(body, route),
  need: ({ call, route, snapshot }) => ({ amounts: estimateUnits(speechNeeds(call, snapshot.fleet), route.price) }),
  settlement: (context: SettlementContext<SpeechCall>) => new UnitSettlement(context, new SpeechCounter(context)),
  serve: (admitted) => {
    const { call } = admitted;
    return serveDialects(
      admitted,
      dialectsOf(admitted),
      call.wantsEvents ? eventWriter : bytesWriter(typeOfFormat(call.format)),
    );
  },
};

/** Gemini-style models that speak are asked for content that is sound. */
function dialectsOf({ route, services }: AdmittedCall): Dialects<SpeechCall> {
  const { eventBytesMax } = services.limits;
  const reading = { eventBytesMax, isMeasured: isLengthPriced(route.price) };
  return {
    formatsFor: () => channelFormats,
    dialectOf: (_call, { format }) => (format === "GenerateContent" ? geminiSpeech : openAISpeech(reading)),
  };
}
